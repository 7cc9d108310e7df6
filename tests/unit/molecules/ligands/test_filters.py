"""Filters turn molecules away, each with the rule that it broke."""

from pathlib import Path

import pytest
from rdkit import Chem
from rdkit.Chem import Crippen
from rdkit.Chem.rdMolDescriptors import CalcNumRotatableBonds

from ligen_py.errors import InputError
from ligen_py.molecules.ligands import filters
from ligen_py.molecules.ligands.filters import (
    PROPERTIES,
    check_patterns,
    objection,
    properties,
)
from ligen_py.records.ledger import Reason, Status
from ligen_py.records.properties import PROPERTY_NAMES
from ligen_py.settings.parse import Property
from tests.unit.molecules.ligands.test_states import SETTINGS, of

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
RHODANINE = "O=C1NC(=S)SC1=Cc1ccccc1"


def test_properties_are_those_of_the_settings() -> None:
    assert set(PROPERTIES) == set(Property.__args__)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weight", 180.042), ("donors", 1), ("acceptors", 3), ("tpsa", 63.6), ("rotatable", 2),
        ("rings", 1), ("heavy", 13), ("charge", 0), ("logp", 1.31),
    ],
)  # fmt: skip
def test_known_properties_of_aspirin(name: Property, value: float) -> None:
    mol = Chem.MolFromSmiles(ASPIRIN)
    assert PROPERTIES[name](mol) == pytest.approx(value, rel=1e-3)
    assert objection(mol, {name: (value - 0.1, value + 0.1)}, (), {}) is None
    found = objection(mol, {name: (value + 0.1, value + 1)}, (), {})
    assert found is not None
    assert found[0] == Reason.PROPERTY_OUT_OF_RANGE


@pytest.mark.parametrize("top", ["C(F)", "C(Cl)", "C(Br)", "C(C)"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_tops_do_not_rotate(top: str, count: int) -> None:
    """CF3, CCl3, CBr3 and C(CH3)3, whose rotation RDKit does not count; with fewer it does."""
    smiles = f"{top[2:-1]}C{top[1:] * (count - 1)}OCC"
    mol = Chem.MolFromSmiles(smiles)
    quick = dict(zip(PROPERTY_NAMES, properties(mol), strict=True))
    assert quick["rotatable"] == CalcNumRotatableBonds(mol)


@pytest.mark.parametrize(
    ("smiles", "rules", "reason", "detail"),
    [
        (ASPIRIN, {"properties": {"weight": (200, 500)}}, Reason.PROPERTY_OUT_OF_RANGE,
         "weight 180.04, not 200 to 500"),
        (RHODANINE, {"alerts": ("pains",)}, Reason.STRUCTURAL_ALERT, "PAINS alert: ene_rhod_A"),
        ("CCC=O", {"alerts": ("pains", "brenk")}, Reason.STRUCTURAL_ALERT, "BRENK alert: aldehyde"),
        (ASPIRIN, {"exclude": {"ester": "C(=O)O[#6]"}}, Reason.EXCLUDED_PATTERN,
         "contains the pattern 'ester'"),
        ("CCC=O", {"exclude": {"aldehyde": "C(=O)[H]"}}, Reason.EXCLUDED_PATTERN,
         "contains the pattern 'aldehyde'"),
    ],
)  # fmt: skip
def test_a_filtered_molecule_is_rejected_with_the_rule(
    smiles: str, rules: dict[str, object], reason: Reason, detail: str
) -> None:
    prepared = of(smiles, SETTINGS.model_copy(update=rules))
    assert (prepared.status, prepared.reason) == (Status.REJECTED, reason)
    assert detail.lower() in prepared.detail.lower()
    assert not prepared.states
    fine = of("CC(C)c1ccc(CNC(=O)Cc2ccccc2)cc1", SETTINGS.model_copy(update=rules))
    assert fine.status == Status.READY


def test_a_pattern_that_is_none_is_named() -> None:
    check_patterns({"fine": "[#6]"})
    for pattern in ("C1CC", "", "[[["):
        with pytest.raises(InputError, match="'bad' is no SMARTS"):
            check_patterns({"bad": pattern})


SURROUNDINGS = [
    ASPIRIN, RHODANINE, "C", "[H][H]", "O=C=O", "OC=O", "CC(=O)O", "C=CO", "OO", "CS(=O)(=O)N",
    "C[S@](=O)c1ccccc1", "C[N+](=O)[O-]", "CN=[N+]=[N-]", "FC(F)(F)CC(C)(C)C", "ClC(Cl)(Cl)CC#CCC",
    "c1cc[nH]c1", "c1ccncc1", "c1ccoc1CNC(=O)c1cscc1", "O=c1[nH]cnc2[nH]cnc12", "NC(=N)NCCCC(N)=S",
    "OP(=O)(O)OCC1CC1", "CC(=O)N1CCN(S(C)(=O)=O)CC1", "[O-]C(=O)C[NH3+]", "C[n+]1ccccc1", "CB(O)O",
    "CSCC(=O)SCC", "O=Cc1ccccc1", "O=C1CCCCN1C", "C[N+]([O-])(C)C", "N#CCN(C)OCC", "C[Si](C)(C)CCO",
    "CN(C)(C)->O", "CC(=O)[O][Zn]", "BrCCI", "OS(=O)(=O)c1ccc(Cl)cc1", "CC=C=CC", "c1ccc2ccccc2c1",
]  # fmt: skip


@pytest.mark.parametrize("most", [0, 100_000])
def test_quick_properties_are_rdkits(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not surroundings are known from other molecules, and forgotten in between."""
    monkeypatch.setattr("ligen_py.molecules.ligands.filters.MOST", most)
    monkeypatch.setattr("ligen_py.molecules.surroundings.MOST", most)
    for smiles in (*SURROUNDINGS, *reversed(SURROUNDINGS)):
        mol = Chem.MolFromSmiles(smiles, sanitize=True)
        assert properties(mol) == tuple(PROPERTIES[name](mol) for name in PROPERTY_NAMES), smiles


def test_quick_properties_of_libraries_are_rdkits(shared_data: Path) -> None:
    for name in ("zinc_2k", "chembl_drugs"):
        lines = (shared_data / f"libraries/{name}.smi").read_text().splitlines()[::4]
        for mol in filter(None, (Chem.MolFromSmiles(line.split()[0]) for line in lines)):
            assert properties(mol) == tuple(PROPERTIES[name](mol) for name in PROPERTY_NAMES)


def test_a_type_of_logp_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Butanediol has surroundings that propanol has not, and no other types."""
    for known in ("_logp", "_logp_types"):
        monkeypatch.setattr(filters, known, {})
    properties(Chem.MolFromSmiles("CCCO"))
    monkeypatch.setattr(filters.rdMolDescriptors, "_CalcCrippenContribs", None)
    mol = Chem.MolFromSmiles("OCCCCO")
    assert properties(mol)[list(PROPERTY_NAMES).index("logp")] == Crippen.MolLogP(mol)
    with pytest.raises(TypeError):
        properties(Chem.MolFromSmiles("CN"))
