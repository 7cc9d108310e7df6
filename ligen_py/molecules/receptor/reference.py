"""A ligand of a structure as a PDB file."""

import gemmi

from ligen_py.molecules.receptor.selection import Selection
from ligen_py.molecules.receptor.site import best_locations, named_ligand
from ligen_py.molecules.receptor.structure import OTHER
from ligen_py.molecules.receptor.writing import atom_of, text_of


def ligand_pdb(selection: Selection, word: str) -> str:
    """The heavy atoms of the ligand that gives a site by its name, each at its best location."""
    chains: dict[str, gemmi.Chain] = {}
    atoms, last = selection.atoms, -1
    for i in best_locations(selection, named_ligand(selection, word)[0]):
        if selection.residue[i] != last:
            last, place = int(selection.residue[i]), atoms.place[i]
            new = chains.setdefault(place.chain, gemmi.Chain(place.chain))
            residue = new.add_residue(gemmi.Residue())
            residue.name, residue.het_flag = place.residue.removesuffix(OTHER), "H"
            residue.seqid = gemmi.SeqId(place.number, place.insertion or " ")
        element = gemmi.Element(int(atoms.element[i]))
        residue.add_atom(atom_of(str(atoms.name[i]), element, atoms.xyz[i]))
    return text_of(chains)
