"""What each atom of a known residue or molecule is: type, charge and hydrogens, by RDKit.

Amino acids have the Gasteiger charges of their residue within a peptide or at its end, cofactors
those of their molecule; hydrogens on carbon are merged into it.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from rdkit import Chem, rdBase

from ligen_py.molecules.graph import Graph
from ligen_py.molecules.receptor import cofactors
from ligen_py.molecules.receptor.structure import OTHER
from ligen_py.molecules.residues import SAME_AS
from ligen_py.molecules.typing.ad4 import ligand_types
from ligen_py.molecules.typing.gasteiger import gasteiger
from ligen_py.records.functions.ad4 import Ad4Type

LETTER = {
    "ALA": "A", "ARG": "R", "ASN": "N", "ASP": "D", "CYS": "C", "GLN": "Q", "GLU": "E", "GLY": "G",
    "HIS": "H", "ILE": "I", "LEU": "L", "LYS": "K", "MET": "M", "PHE": "F", "PRO": "P", "SER": "S",
    "THR": "T", "TRP": "W", "TYR": "Y", "VAL": "V",
}  # fmt: skip

STATES: dict[str, dict[str, tuple[int, int]]] = {
    "ASP": {"OD2": (-1, 0)}, "ASH": {}, "GLU": {"OE2": (-1, 0)}, "GLH": {},
    "LYS": {"NZ": (1, 3)}, "LYN": {}, "ARG": {"NH1": (1, 2)}, "CYM": {"SG": (-1, 0)},
    "ARN": {"NE": (0, 0), "NH1": (0, 2)}, "ARN1": {"NH1": (0, 1)}, "ARN2": {"NH1": (0, 2)},
    "TYM": {"OH": (-1, 0)},
    "HIS": {}, "HIE": {}, "HID": {"ND1": (0, 1), "NE2": (0, 0)}, "HIP": {"ND1": (1, 1)},
    "imidazolate": {"NE2": (-1, 0)},
    "amide": {"NZ": (0, 1)}, "imine": {"NZ": (1, 1)}, "ammonium": {"NZ": (1, 2)},
}  # fmt: skip
"""Atoms whose formal charge and hydrogens are not those of the neutral amino acid."""

IMINES = {"ARN": "NE", "ARN1": "NH1", "ARN2": "NH2"}
"""The nitrogen of a neutral arginine that has the double bond."""

PARTNER = {
    "amide": ("C(C)=O", Chem.BondType.SINGLE),
    "imine": ("C", Chem.BondType.DOUBLE),
    "ammonium": ("C", Chem.BondType.SINGLE),
}
"""What stands for the group that a lysine is bound to, and the bond: biotinyl-lysine is an amide,
with pyridoxal phosphate and retinal it is a protonated imine."""

BASE = {
    **{"ARN1": "ARG", "ARN2": "ARG", "TYM": "TYR", "imidazolate": "HIS"},
    **dict.fromkeys(PARTNER, "LYS"),
}
"""Amino acids of states without a residue name of their own."""

RDKIT_NAMES = {"ILE": {"CG1": "CG2", "CG2": "CG1"}}
"""Names of atoms by those that RDKit gives them, where they are not those of the PDB."""

OLD_DNA = ("A", "C", "G", "T", "U")
"""Names of nucleotides, of which those without O2' are DNA's: until 2007 the PDB called them so."""

ORGANIC = {
    "C": Ad4Type.C, "N": Ad4Type.N, "O": Ad4Type.OA, "S": Ad4Type.S, "SE": Ad4Type.S,
    "P": Ad4Type.P, "F": Ad4Type.F, "CL": Ad4Type.CL, "BR": Ad4Type.BR, "I": Ad4Type.I,
    "SI": Ad4Type.SI, "B": Ad4Type.C, "AS": Ad4Type.P,
}  # fmt: skip
"""Types of atoms that no molecule is known of."""


class Template(NamedTuple):
    """An atom of an amino acid or a molecule."""

    kind: Ad4Type
    charge: float
    hydrogens: int
    """Polar ones."""
    hydrogen_charge: float
    flat: bool


@cache
def amino_acid(state: str, last: str = "", amine: int | None = None) -> dict[str, Template]:
    """Atom name -> what it is, of an amino acid between two alanines, or at an end.

    Args:
        state: name of the residue or of its protonation state.
        last: "carboxylate" or "acid" at the end of a chain.
        amine: charge of its amine at the start of a chain; None: as within one, since most that
            look like a first residue stand behind a gap.
    """
    name = SAME_AS.get(state, BASE.get(state, state))
    before, after = "A" if amine is None else "", "" if last else "A"
    number = len(before) + 1
    mol = Chem.RWMol(Chem.MolFromSequence(f"{before}{LETTER[name]}{after}"))
    edits = STATES.get(state, {}) | ({"OXT": (-1, 0)} if last == "carboxylate" else {})
    if amine:
        edits = edits | {"N": (1, 2 if name == "PRO" else 3)}
    rows = {}
    for atom in mol.GetAtoms():
        info = atom.GetPDBResidueInfo()
        own = info.GetName().strip() if info.GetResidueNumber() == number else ""
        rows[own] = atom.GetIdx()
        edit = edits.get(own)
        if edit:
            atom.SetFormalCharge(edit[0])
            atom.SetNumExplicitHs(edit[1])
            atom.SetNoImplicit(True)
    if state in PARTNER:
        partner, order = PARTNER[state]
        first = mol.GetNumAtoms()
        mol = Chem.RWMol(Chem.CombineMols(mol, Chem.MolFromSmiles(partner)))
        mol.AddBond(rows["NZ"], first, order)
        for i in range(first, mol.GetNumAtoms()):
            mol.GetAtomWithIdx(i).SetMonomerInfo(Chem.AtomPDBResidueInfo())
    for other in IMINES.values() if state in IMINES else ():
        is_imine = other == IMINES[state]
        order = Chem.BondType.DOUBLE if is_imine else Chem.BondType.SINGLE
        mol.GetBondBetweenAtoms(rows["CZ"], rows[other]).SetBondType(order)
    whole = mol.GetMol()
    Chem.SanitizeMol(whole)
    whole = Chem.AddHs(whole)
    types, charges = ligand_types(Graph.of(whole), gasteiger(whole))
    names = RDKIT_NAMES.get(name, {})
    return {
        names.get(own, own): _template(atom, types, charges, state)
        for atom in whole.GetAtoms()
        if atom.GetAtomicNum() > 1 and atom.GetPDBResidueInfo().GetResidueNumber() == number
        for own in (atom.GetPDBResidueInfo().GetName().strip(),)
    }


def cofactor(
    residue: str,
    symbols: Sequence[str],
    bonded: Sequence[Sequence[int]],
    ties: Mapping[int, str],
    smiles: Mapping[str, str],
    hydrogens: Sequence[int] = (),
) -> dict[int, Template]:
    """What the atoms of a residue are by its SMILES; nothing where none is known, or another one.

    `bonded` are the neighbours within the residue, `ties` the element of that in another one, by
    atom; `smiles` are those of the config, by name. `hydrogens` are those of a file on each atom,
    of which only polar ones count; none where the file has no polar one.
    """
    name = residue.upper().removesuffix(OTHER)
    text = smiles.get(name) or cofactors.known().get(name, "")
    deoxy = cofactors.known()[f"D{name}"] if name in OLD_DNA and name not in smiles else ""
    if deoxy and cofactors.placed(deoxy, symbols, bonded):
        text = deoxy
    match = cofactors.placed(text, symbols, bonded) if text else None
    if not match:
        return {}
    # The hydroxyl of a nucleotide's SMILES is the ester of the next one's phosphate, that of a
    # sugar's the ether of the next one, and the thiol of a coenzyme may be a thioester.
    more = [i for i in match if i in ties]
    esters = {(match[i], symbols[i], ties[i]) for i in more if symbols[i] in ("O", "S")}
    for place in more:
        if symbols[place] in ("C", "P"):
            match, spare = _left_out(text, match, match[place])
            other = "O" if symbols[place] == "P" else ties[place]
            esters |= {(own, other, "C") for own in spare}
    # A nucleotide that begins a chain mostly has a hydroxyl in the place of its phosphate.
    ends = frozenset(
        (match[i], atom.GetIdx())
        for i in match
        if symbols[i] == "O" and i not in ties
        for atom in cofactors.molecule(text).GetAtomWithIdx(match[i]).GetNeighbors()
        if atom.GetSymbol() == "P" and atom.GetIdx() not in match.values()
    )
    given = frozenset((match[i], count) for i, count in enumerate(hydrogens) if i in match)
    known = _of_smiles(text, frozenset(esters), ends, given)
    return {place: known[own] for place, own in match.items()}


def as_given(mol: Chem.Mol, hydrogens: Mapping[int, int]) -> Chem.Mol:
    """The same molecule with the polar hydrogens of a file, by number of their heavy atom.

    Nitrogens may be another tautomer, take hydrogens, and lose those of a charge; oxygens and
    sulfurs with a charge may take one. Others may be left out in the file. The molecule itself
    where nothing differs, or where that makes no molecule.
    """
    wanted = Chem.RWMol(mol)
    for i, count in hydrogens.items():
        if count and wanted.GetAtomWithIdx(i).GetSymbol() == "O":
            _exchange(wanted, i, hydrogens)
    moved: dict[int, int] = {}
    charged: dict[int, int] = {}
    for i, count in hydrogens.items():
        atom = wanted.GetAtomWithIdx(i)
        more, formal = count - atom.GetTotalNumHs(), atom.GetFormalCharge()
        is_nitrogen = atom.GetSymbol() == "N"
        if more and is_nitrogen:
            moved[i] = more
        # A nitrogen that lacks more than the charge's hydrogen is no anion: the file lacks some.
        if (more > 0 and (is_nitrogen or formal < 0)) or (-formal <= more < 0 and is_nitrogen):
            charged[i] = more
    if moved and not sum(moved.values()):
        others = {i: more for i, more in charged.items() if i not in moved}
        tautomer = _with_hydrogens(wanted, moved, others)
        if tautomer:
            return tautomer
    return (_with_hydrogens(wanted, {}, charged) if charged else None) or mol


def _with_hydrogens(
    mol: Chem.Mol, moved: Mapping[int, int], charged: Mapping[int, int]
) -> Chem.Mol | None:
    """With more hydrogens on atoms, some with a charge each; None where that is no molecule."""
    changed = Chem.RWMol(mol)
    for i, count in {**moved, **charged}.items():
        atom = changed.GetAtomWithIdx(i)
        atom.SetNumExplicitHs(atom.GetTotalNumHs() + count)
        atom.SetFormalCharge(atom.GetFormalCharge() + charged.get(i, 0))
        atom.SetNoImplicit(True)
    with rdBase.BlockLogs():
        try:
            Chem.SanitizeMol(changed)
        except ValueError:
            return None
    return changed.GetMol()


def _exchange(mol: Chem.RWMol, oxo: int, hydrogens: Mapping[int, int]) -> None:
    """Let an oxo change places with a charged oxygen beside it that has no hydrogen, in place."""
    atom = mol.GetAtomWithIdx(oxo)
    bonds = atom.GetBonds()
    if len(bonds) != 1 or bonds[0].GetBondType() != Chem.BondType.DOUBLE:
        return
    middle = bonds[0].GetOtherAtom(atom)
    for other in middle.GetNeighbors():
        i = other.GetIdx()
        if other.GetSymbol() == "O" and other.GetFormalCharge() < 0 and not hydrogens.get(i):
            mol.GetBondBetweenAtoms(middle.GetIdx(), i).SetBondType(Chem.BondType.DOUBLE)
            bonds[0].SetBondType(Chem.BondType.SINGLE)
            other.SetFormalCharge(0)
            atom.SetFormalCharge(-1)
            return


def _left_out(smiles: str, match: dict[int, int], middle: int) -> tuple[dict[int, int], set[int]]:
    """The atom of the SMILES in whose place another residue is bound to a carbon or phosphorus.

    Of a phosphate or carboxylate it is one of the oxygens with a charge; where they are all taken,
    one changes places with the oxo. Of a sugar it is its hydroxyl, of an aldehyde its oxo.
    """
    near = cofactors.molecule(smiles).GetAtomWithIdx(middle).GetNeighbors()
    charged = [atom.GetIdx() for atom in near if atom.GetFormalCharge() < 0]
    ends = [atom for atom in near if atom.GetSymbol() in ("N", "O", "S")]
    ends = [atom for atom in ends if sum(n.GetAtomicNum() > 1 for n in atom.GetNeighbors()) == 1]
    left = [atom.GetIdx() for atom in ends if atom.GetIdx() not in match.values()]
    if not left:
        return match, set()
    if left[0] in charged or not charged:
        return match, {left[0]}
    return {i: left[0] if own == charged[0] else own for i, own in match.items()}, {charged[0]}


@cache
def _of_smiles(
    smiles: str,
    esters: frozenset[tuple[int, str, str]],
    ends: frozenset[tuple[int, int]],
    hydrogens: frozenset[tuple[int, int]],
) -> list[Template]:
    """What each heavy atom of a cofactor is, in the order of its SMILES.

    `esters` are atoms with another group in the place of their hydrogen or charge, their elements
    there, and that of the group's first atom: it is methyl, or the diester that a nucleotide's
    phosphate is. An oxo that is nitrogen there is that of a protonated imine. `ends` are bonds that
    give way to a hydrogen on their first atom; `hydrogens` are those of a file.
    """
    mol = Chem.RWMol(Chem.MolFromSmiles(smiles))
    for end, other in sorted(ends):
        mol.RemoveBond(end, other)
        mol.GetAtomWithIdx(end).SetNoImplicit(False)
    for ester, symbol, partner in sorted(esters):
        atom = mol.GetAtomWithIdx(ester)
        is_oxo = any(bond.GetBondType() == Chem.BondType.DOUBLE for bond in atom.GetBonds())
        if is_oxo and symbol != "N":
            continue
        atom.SetAtomicNum(Chem.GetPeriodicTable().GetAtomicNumber(symbol.capitalize()))
        atom.SetFormalCharge(int(is_oxo))
        atom.SetNumExplicitHs(0)
        atom.SetNoImplicit(False)
        first = mol.GetNumAtoms()
        mol.InsertMol(Chem.MolFromSmiles("P(=O)([O-])OC" if partner == "P" else "C"))
        mol.AddBond(ester, first, Chem.BondType.SINGLE)
    with rdBase.BlockLogs():
        try:
            Chem.SanitizeMol(mol)
        except ValueError:  # no room for the bond, which may be a clash
            mol = Chem.RWMol(Chem.MolFromSmiles(smiles))
    return of_molecule(Chem.AddHs(as_given(mol.GetMol(), dict(hydrogens))))


def of_molecule(mol: Chem.Mol) -> list[Template]:
    """What each heavy atom of a molecule with explicit hydrogens is, in its order.

    An element that AutoDock4 lacks takes the type of one that it has, as without a molecule.
    """
    types, charges = ligand_types(Graph.of(mol), gasteiger(mol))
    for atom in mol.GetAtoms():
        if types[atom.GetIdx()] == Ad4Type.NONE:
            types[atom.GetIdx()] = ORGANIC.get(atom.GetSymbol().upper(), Ad4Type.NONE)
    heavy = (atom for atom in mol.GetAtoms() if atom.GetAtomicNum() > 1)
    return [_template(atom, types, charges, "") for atom in heavy]


def _template(atom: Chem.Atom, types: np.ndarray, charges: np.ndarray, state: str) -> Template:
    polar = [other.GetIdx() for other in atom.GetNeighbors() if types[other.GetIdx()] == Ad4Type.HD]
    kind, charged = Ad4Type(types[atom.GetIdx()]), float(charges[atom.GetIdx()])
    flat = atom.GetHybridization() == Chem.HybridizationType.SP2
    mean = float(charges[polar].mean()) if polar else 0.0
    template = Template(kind, charged, len(polar), mean, flat)
    is_bridge = state == "CYX" and kind in (Ad4Type.S, Ad4Type.SA)
    return without_hydrogens(template) if is_bridge else template


def without_hydrogens(template: Template, most: int = 4) -> Template:
    """The same atom with other bonds in the place of hydrogens, whose charge it takes."""
    lost = min(most, template.hydrogens)
    charged, left = template.charge + lost * template.hydrogen_charge, template.hydrogens - lost
    return template._replace(
        charge=charged, hydrogens=left, hydrogen_charge=template.hydrogen_charge if left else 0.0
    )


def thiolate(thiol: Template) -> Template:
    """The sulfur of a cofactor without its hydrogen, as that of a cysteine that binds a metal."""
    bare = without_hydrogens(thiol)
    return bare._replace(charge=bare.charge - 1)
