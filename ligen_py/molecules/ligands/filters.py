"""Filters of parents: property ranges, structural alerts and the user's patterns."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from rdkit import Chem, rdBase
from rdkit.Chem import Crippen, FilterCatalog, rdMolDescriptors

from ligen_py.errors import InputError
from ligen_py.records.ledger import Reason
from ligen_py.records.properties import PROPERTY_NAMES
from ligen_py.settings.parse import Property

PROPERTIES: dict[str, Callable[[Chem.Mol], float]] = {
    "weight": rdMolDescriptors.CalcExactMolWt,
    "logp": Crippen.MolLogP,
    "donors": rdMolDescriptors.CalcNumHBD,
    "acceptors": rdMolDescriptors.CalcNumHBA,
    "tpsa": rdMolDescriptors.CalcTPSA,
    "rotatable": rdMolDescriptors.CalcNumRotatableBonds,
    "rings": rdMolDescriptors.CalcNumRings,
    "heavy": rdMolDescriptors.CalcNumHeavyAtoms,
    "charge": Chem.GetFormalCharge,
}
"""Properties of the parent, all by RDKit, by their names in the settings."""


def properties(mol: Chem.Mol) -> tuple[float, ...]:
    """All properties of a parent, in the order of `PROPERTY_NAMES`."""
    return tuple(float(PROPERTIES[name](mol)) for name in PROPERTY_NAMES)


def objection(
    mol: Chem.Mol,
    ranges: Mapping[Property, tuple[float, float]],
    alerts: Sequence[str],
    patterns: Mapping[str, str],
) -> tuple[Reason, str] | None:
    """Why a parent is rejected, or None: the first filter that applies, in this order."""
    for name, (low, high) in ranges.items():
        value = PROPERTIES[name](mol)
        if not low <= value <= high:
            return Reason.PROPERTY_OUT_OF_RANGE, f"{name} {value:.5g}, not {low:g} to {high:g}"
    for alert in alerts:
        entry = _catalog(alert).GetFirstMatch(mol)
        if entry is not None:
            return Reason.STRUCTURAL_ALERT, f"{alert.upper()} alert: {entry.GetDescription()}"
    for label, pattern in patterns.items():
        if mol.HasSubstructMatch(_query(pattern)):
            return Reason.EXCLUDED_PATTERN, f"contains the pattern '{label}'"
    return None


def alerts_of(mol: Chem.Mol, catalog: str) -> list[str]:
    """Descriptions of all alerts of a catalog, such as `pains`, that a molecule has, in order."""
    found = (entry.GetDescription() for entry in _catalog(catalog).GetMatches(mol))
    return list(dict.fromkeys(text.replace("_", " ").partition("(")[0].strip() for text in found))


def check_patterns(patterns: Mapping[str, str]) -> None:
    """Raise InputError that names the first pattern that is not a SMARTS."""
    for name, pattern in patterns.items():
        with rdBase.BlockLogs():
            query = Chem.MolFromSmarts(pattern)
        if query is None or not query.GetNumAtoms():
            raise InputError(f"setting 'exclude': '{name}' is no SMARTS: {pattern!r}; correct it")


@cache
def _query(pattern: str) -> Chem.Mol:
    return Chem.MolFromSmarts(pattern)


@cache
def _catalog(name: str) -> FilterCatalog.FilterCatalog:
    catalogs = FilterCatalog.FilterCatalogParams.FilterCatalogs
    return FilterCatalog.FilterCatalog(
        FilterCatalog.FilterCatalogParams(getattr(catalogs, name.upper()))
    )
