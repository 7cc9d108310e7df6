"""The groups of a docked ligand, by patterns."""

import numpy as np
from rdkit import Chem

from ligen_py.molecules.graph import matches
from ligen_py.molecules.interactions.groups import Donor, Groups, Ring

DONOR = "[#7,#8,#16;!-]-[#1]"

ACCEPTOR = (
    "[$([#8]);!$([OX2]([#6])C=[O,S]);!$(O(~a)~a);!$(o);!$(O=[N+]);!$([O-][N+]=O)]",
    "[$([#7;!+]);!$([nX3]);!$([NX3][#6]=[O,N,S]);!$([NX3]S(=O)=O);!$([NX3]a);!$([NX3][N]=*)]",
)
"""Not accepting: the bridging oxygen of esters, furans, nitro groups; nitrogens whose lone pair is
in a pi system."""

HYDROPHOBIC = "[c,s,Br,I,Cl,$([SX2;H0]),$([#6;!H0,X3,X2]);!$([#6;!a]~[#7,#8,#9]);+0]"
"""Aromatic carbons, thioethers, heavy halogens, and carbons beside neither N, O nor F."""

POSITIVE = ("[+;!$([+]~[-])]", "[#7X3+0;$([#7]~[#6X3]=,:[#7X3+;!$([+]~[-])])]")
NEGATIVE = (
    "[-;!$([-]~[+])]",
    "[$([OX1]=[C,S,P]-[O-])]",
    "[nX2+0;$(n1[n-]***1),$(n1*[n-]**1)]",
)
"""Charges, and the atoms over which resonance spreads them: in amidines, guanidines and their like,
aromatic or not, acids of carbon, sulfur and phosphorus, tetrazoles and other azoles."""

HALOGEN = "[#6]-[Cl,Br,I]"

CHELATOR = "[$([O;!+]),$([#7;!+;!$([nX3]);!$([NX3][#6]=[O,N,S]);!$([NX3]a)]),$([S-]),$([SX2H])]"


def ligand_groups(mol: Chem.Mol, xyz: np.ndarray) -> Groups:
    """The groups of a molecule with explicit hydrogens, at positions (atoms, 3) in Angstrom."""
    halogens = [(int(carbon), int(halogen)) for carbon, halogen in matches(mol, HALOGEN)]
    acceptors = _atoms(mol, *ACCEPTOR)
    return Groups(
        xyz=xyz.astype(float),
        donors=_donors(mol, xyz),
        acceptors=acceptors,
        hydrophobic=_atoms(mol, HYDROPHOBIC),
        positive=_atoms(mol, *POSITIVE),
        negative=_atoms(mol, *NEGATIVE),
        rings=_rings(mol, xyz),
        halogens=halogens,
        metals=[atom.GetIdx() for atom in mol.GetAtoms() if _is_metal(atom)],
        chelators=_atoms(mol, CHELATOR),
    )


def _atoms(mol: Chem.Mol, *patterns: str) -> list[int]:
    return sorted({int(match[0]) for smarts in patterns for match in matches(mol, smarts)})


def _donors(mol: Chem.Mol, xyz: np.ndarray) -> list[Donor]:
    hydrogens: dict[int, list[int]] = {}
    for heavy, hydrogen in matches(mol, DONOR):
        hydrogens.setdefault(heavy, []).append(hydrogen)
    found = []
    for heavy, own in hydrogens.items():
        atom = mol.GetAtomWithIdx(heavy)
        around = [one.GetIdx() for one in atom.GetNeighbors() if one.GetAtomicNum() > 1]
        places = tuple(tuple(map(float, xyz[row])) for row in own)
        turns = len(around) == 1 and (atom.GetAtomicNum() != 7 or atom.GetTotalDegree() == 4)
        found.append(Donor(heavy, places, around[0] if turns else None))  # type: ignore[arg-type]
    return found


def _rings(mol: Chem.Mol, xyz: np.ndarray) -> list[Ring]:
    return [
        Ring.of(tuple(ring), xyz)
        for ring in mol.GetRingInfo().AtomRings()
        if len(ring) in (5, 6) and all(mol.GetAtomWithIdx(i).GetIsAromatic() for i in ring)
    ]


def _is_metal(atom: Chem.Atom) -> bool:
    return atom.GetAtomicNum() in (3, 11, 12, 13, 19, 20, *range(21, 32), *range(37, 51))
