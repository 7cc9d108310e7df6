"""Filters of parents: property ranges, structural alerts and the user's patterns."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from rdkit import Chem
from rdkit.Chem import Crippen, FilterCatalog, rdMolDescriptors

from ligen_py.errors import InputError
from ligen_py.molecules.patterns import query_of
from ligen_py.molecules.surroundings import (
    DOUBLE,
    MOST,
    SINGLE,
    TRIPLE,
    Surroundings,
    surroundings,
)
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
    """All properties of a parent, in the order of `PROPERTY_NAMES`.

    Three of them take RDKit four fifths of the time, with patterns. They are added up from what the
    surroundings of the atoms say, with the same result; three more are counts of what is listed.
    """
    values = PROPERTIES
    seen = surroundings(mol)
    if seen.is_plain:
        quick = {
            "logp": logp(seen),
            "acceptors": acceptors(seen),
            "rotatable": rotatable(seen),
            "rings": len(seen.rings),
            "heavy": len(seen.element),
            "charge": sum(seen.charge),
        }
    else:
        quick = {}
    return tuple(
        float(quick[name] if name in quick else values[name](mol)) for name in PROPERTY_NAMES
    )


_logp: dict[tuple[int, ...], tuple[float, float]] = {}
"""What an atom and each of its hydrogens give to logP, by RDKit, by what stands for the atom."""
_logp_types: dict[tuple[Any, ...], tuple[float, float]] = {}
"""The same by what RDKit's patterns of types ask for, which is less (`_logp_type`)."""


def logp(seen: Surroundings) -> float:
    """Crippen's logP of a plain molecule.

    A type follows from the atom and its neighbours, that of an oxygen and its hydrogen from their
    neighbours as well (Wildman, Crippen, J. Chem. Inf. Comput. Sci. 39:868, 1999).
    """
    keys = [
        seen.beyond(atom) if element == 8 else (number,)
        for atom, (element, number) in enumerate(zip(seen.element, seen.number, strict=True))
    ]
    if not all(key in _logp for key in keys):
        _learn_logp(seen, keys)
    found = [_logp[key] for key in keys]
    total = 0.0  # in RDKit's order, so that rounding is the same
    for atom, _ in found:
        total += atom
    for (_, hydrogen), count in zip(found, seen.hydrogens, strict=True):
        for _ in range(count):
            total += hydrogen
    return total


def _learn_logp(seen: Surroundings, keys: Sequence[tuple[int, ...]]) -> None:
    """Remember the shares of a molecule's atoms; RDKit is asked where a type was not met before."""
    for known in (_logp, _logp_types):
        if len(known) > MOST:
            known.clear()
    new = {key: _logp_type(seen, atom) for atom, key in enumerate(keys) if key not in _logp}
    if not all(kind in _logp_types for kind in new.values()):
        shares = [share for share, _ in rdMolDescriptors._CalcCrippenContribs(Chem.AddHs(seen.mol))]
        hydrogen = len(keys)
        for atom, count in enumerate(seen.hydrogens):
            own = shares[atom], shares[hydrogen] if count else 0.0
            _logp_types[_logp_type(seen, atom)] = own
            hydrogen += count
    _logp.update({key: _logp_types[kind] for key, kind in new.items()})


def _logp_type(seen: Surroundings, atom: int) -> tuple[Any, ...]:
    """What an atom's pattern of logP, and that of its hydrogens, can ask for.

    Of a neighbour that is element, aromaticity, charge and bond; beside an oxygen also its bonds,
    hydrogens and further neighbours.
    """
    kind = list(zip(seen.element, seen.aromatic, seen.charge, strict=True))

    def around(centre: int) -> list[tuple[Any, ...]]:
        numbers, bonds = seen.lists.numbers, seen.lists.bonds
        return sorted(
            (*kind[other], bonds[numbers[centre, other]].type) for other in seen.neighbours[centre]
        )

    def own(centre: int) -> tuple[Any, ...]:
        return *kind[centre], seen.degree[centre], seen.hydrogens[centre], *around(centre)

    if seen.element[atom] == 8:
        return *own(atom), *sorted(own(other) for other in seen.neighbours[atom])
    return own(atom)


PI_ENDS = frozenset((7, 8, 15, 16))
"""Elements at the end of a double bond that pull its electrons."""
VALENCE = (1, 1.5, 2, 3)
"""By the order of a bond."""


def acceptors(seen: Surroundings) -> int:
    """RDKit's acceptors of hydrogen bonds of a plain molecule."""
    element, aromatic, hydrogens = seen.element, seen.aromatic, seen.hydrogens
    beside, outside = set(), set()
    valence: list[float] = list(hydrogens)
    single = defaultdict(list)
    for first, second, order, cyclic in seen.bonds:
        valence[first] += VALENCE[order]
        valence[second] += VALENCE[order]
        if order == SINGLE:
            single[first].append(second)
            single[second].append(first)
        elif order == DOUBLE:
            for atom, end in ((first, second), (second, first)):
                if element[end] in PI_ENDS and not aromatic[end]:
                    beside.add(atom)
                    if not cyclic:
                        outside.add(atom)

    def accepts(atom: int, number: int) -> bool:
        """Whether N, O or S takes a hydrogen bond."""
        if aromatic[atom]:
            taken = number == 7 and (hydrogens[atom] or seen.degree[atom] != 2)
            return not taken and not seen.charge[atom]
        if number == 7:
            return valence[atom] == 3 and outside.isdisjoint(single[atom])
        if seen.charge[atom] == -1:
            return True
        if valence[atom] != 2 or hydrogens[atom] > 1:
            return False
        return not hydrogens[atom] or any(other not in beside for other in single[atom])

    return sum(accepts(atom, number) for atom, number in enumerate(element) if number in (7, 8, 16))


def rotatable(seen: Surroundings) -> int:
    """RDKit's (strict) rotatable bonds of a plain molecule."""
    element, aromatic, neighbours = seen.element, seen.aromatic, seen.neighbours
    open_single = [
        (first, second)
        for first, second, order, cyclic in seen.bonds
        if order == SINGLE and not cyclic
    ]
    turns = [
        (first, second)
        for first, second in open_single
        if len(neighbours[first]) > 1 and len(neighbours[second]) > 1
    ]
    if not turns:
        return 0
    still, carbonyls = set(), set()
    for first, second, order, _ in seen.bonds:
        if order == TRIPLE:
            still |= {first, second}
        elif order == DOUBLE:
            for carbon, end in ((first, second), (second, first)):
                if (
                    element[carbon] == 6
                    and element[end] in (7, 8, 16)
                    and len(neighbours[carbon]) == 3
                    and not aromatic[carbon]
                    and not aromatic[end]
                ):
                    carbonyls.add(carbon)
    amides = set()
    for bond in open_single:
        for carbon, other in (bond, bond[::-1]):
            number = element[other]
            if carbon in carbonyls and (
                number == 7
                or (number == 8 and not aromatic[other])
                or (number == 16 and not aromatic[other] and len(neighbours[other]) > 1)
            ):
                amides |= {carbon, other}
    return sum(
        not (first in still or second in still)
        and not (first in amides and second in amides)
        and not _is_top(seen, first)
        and not _is_top(seen, second)
        for first, second in turns
    )


def _is_top(seen: Surroundings, atom: int) -> bool:
    """Whether an atom is CX3 or CMe3, whose rotation RDKit does not count."""
    others = seen.neighbours[atom]
    if seen.element[atom] != 6 or seen.aromatic[atom] or len(others) < 3:
        return False
    kinds = [seen.element[other] for other in others]
    if any(kinds.count(halogen) > 2 for halogen in (9, 17, 35)):
        return True
    return sum(seen.element[other] == 6 and seen.hydrogens[other] == 3 for other in others) > 2


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
        if mol.HasSubstructMatch(query_of(pattern)):
            return Reason.EXCLUDED_PATTERN, f"contains the pattern '{label}'"
    return None


def alerts_of(mol: Chem.Mol, catalog: str) -> list[str]:
    """Descriptions of all alerts of a catalog, such as `pains`, that a molecule has, in order."""
    found = (entry.GetDescription() for entry in _catalog(catalog).GetMatches(mol))
    return list(dict.fromkeys(text.replace("_", " ").partition("(")[0].strip() for text in found))


def check_patterns(patterns: Mapping[str, str]) -> None:
    """Raise InputError that names the first pattern that is not a SMARTS."""
    for name, pattern in patterns.items():
        if query_of(pattern) is None:
            raise InputError(f"setting 'exclude': '{name}' is no SMARTS: {pattern!r}; correct it")


@cache
def _catalog(name: str) -> FilterCatalog.FilterCatalog:
    catalogs = FilterCatalog.FilterCatalogParams.FilterCatalogs
    return FilterCatalog.FilterCatalog(
        FilterCatalog.FilterCatalogParams(getattr(catalogs, name.upper()))
    )
