"""Protonation states by Dimorphite-DL's patterns and pKa (Ropp et al., J. Cheminform. 11:14, 2019).

The results are those of `dimorphite_dl.protonate_smiles`, in less time. Most groups that it finds
keep the form in which they are drawn at a given pH (amides, alcohols, anilines). Here they take no
time; there each takes a copy of the molecule, and a state is written and read four times.
"""

from collections.abc import Iterator
from functools import cache

from dimorphite_dl.mol import MoleculeRecord
from dimorphite_dl.neutralize import MoleculeNeutralizer
from dimorphite_dl.protonate.change import (
    log10_one_plus_pow10,
    protonate_site,
    site_log_probabilities,
)
from dimorphite_dl.protonate.data import PKaData
from dimorphite_dl.protonate.detect import (
    ProtonationSiteDetectionError,
    ProtonationSiteDetector,
)
from dimorphite_dl.protonate.site import ProtonationSite, ProtonationState, SubstructureDatum
from rdkit import Chem

from ligen_py.molecules.graph import atoms_of, holds

NEUTRALISED = ("[!+0]", "[#7]-[#7]#[#7]", "[2#1,3#1]")
"""Molecules that Dimorphite's own neutralisation changes have one of these."""

SPECIAL = "*"
"""In the name of a pattern: nitrogens that are neutral with their hydrogen (azides, pyrroles)."""

Variant = tuple[Chem.Mol, float]
"""A state, and the logarithm of its probability."""


def protonated(smiles: str, low: float, high: float, limit: int) -> list[str]:
    """SMILES of the `limit` likeliest states between two pH, atom maps kept; none: as drawn."""
    record = _Record(smiles)
    try:
        _, sites = _Detector(validate_sites=True).find_sites(record)
    except ProtonationSiteDetectionError:
        return []
    prepared = record.mol
    variants: list[Variant] = [(prepared, 0.0)]
    for site in sites:
        if _stays(site, prepared, low, high):
            continue
        scores = site_log_probabilities(site, low, high, 0.0, (low + high) / 2)
        following: list[Variant] = []
        for parent, score in variants:
            children = protonate_site([parent], site, low, high, 0.0)
            if len(children) != len(scores):
                return _written(variants)
            following += [
                (child, score + more) for child, more in zip(children, scores, strict=True)
            ]
        variants = _likeliest(_merged(following), limit)
    if variants[0][0] is not prepared:
        return _written(variants)
    return [Chem.MolToSmiles(Chem.RemoveHs(prepared))] if record.neutralised else []


def _stays(site: ProtonationSite, mol: Chem.Mol, low: float, high: float) -> bool:
    """Whether a group has one form between two pH, which is the one that is drawn."""
    for number, state in site.get_unique_states(low, high, 0.0):
        if state == ProtonationState.BOTH:
            return False
        atom = mol.GetAtomWithIdx(number)
        (charge,) = state.get_charges() or [None]
        if charge is None or atom.GetNumRadicalElectrons():
            return False
        basic = atom.GetAtomicNum() == 7 and SPECIAL not in site.name
        if atom.GetFormalCharge() != charge + basic:
            return False
    return True


def _merged(variants: list[Variant]) -> list[Variant]:
    """Each state once, where it first occurred; probabilities of equal states are added."""
    result: dict[str, Variant] = {}
    for mol, score in variants:
        smiles = Chem.MolToSmiles(mol)
        if smiles in result:
            mol, first = result[smiles]
            score = first + log10_one_plus_pow10(score - first)
        result[smiles] = mol, score
    return list(result.values())


def _likeliest(variants: list[Variant], limit: int) -> list[Variant]:
    """The likeliest variants, in their order."""
    ranked = sorted(range(len(variants)), key=lambda i: -variants[i][1])
    return [variants[i] for i in sorted(ranked[:limit])]


def _written(variants: list[Variant]) -> list[str]:
    return list(dict.fromkeys(Chem.MolToSmiles(mol) for mol, _ in variants))


class _Record(MoleculeRecord):
    """A molecule that is neutralised only where there is something to neutralise."""

    neutralised = False

    def prepare_for_protonation(self) -> Chem.Mol:
        mol = Chem.MolFromSmiles(self.smiles)
        if mol is None or any(holds(mol, each) for each in NEUTRALISED):
            self.neutralised, self._neutralizer = True, _neutralizer()
            return super().prepare_for_protonation()
        mol = Chem.AddHs(mol)
        for atom in atoms_of(mol):
            atom.SetProp("_protected", "0")  # as `unprotect_atoms` does
        return mol


@cache
def _neutralizer() -> MoleculeNeutralizer:
    return MoleculeNeutralizer()


class _Detector(ProtonationSiteDetector):
    """Skips the patterns that need an element which the molecule does not have."""

    def _detect_all_sites_in_molecule(self, mol: Chem.Mol) -> Iterator[ProtonationSite]:
        self.pka_data = _Patterns(mol)
        return super()._detect_all_sites_in_molecule(mol)


class _Patterns:
    """Dimorphite's patterns that a molecule with these elements may match."""

    def __init__(self, mol: Chem.Mol) -> None:
        self._elements = {atom.GetAtomicNum() for atom in atoms_of(mol)}

    def get_substructures(self) -> Iterator[SubstructureDatum]:
        return (datum for datum, needed in _elements_needed() if needed <= self._elements)


@cache
def _elements_needed() -> list[tuple[SubstructureDatum, frozenset[int]]]:
    """Every pattern with the elements that each match of it has."""
    result = []
    for datum in PKaData().get_substructures():
        plain = [atom for atom in datum.mol.GetAtoms() if not set(atom.GetSmarts()) & set(",!$")]
        result.append((datum, frozenset(atom.GetAtomicNum() for atom in plain) - {0}))
    return result
