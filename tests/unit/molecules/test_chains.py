"""Sequences of a receptor's chains, and the residues that line a pocket."""

from pathlib import Path

import numpy as np
import pytest

from ligen_py.errors import InputError
from ligen_py.molecules.receptor.chains import lining, protein_chains
from tests.stages.test_homologs import PDB


def test_chains_as_the_structure_shows_them(tmp_path: Path) -> None:
    path = tmp_path / "receptor.pdb"
    path.write_text(PDB)
    chains = protein_chains(path)
    assert [(chain.name, chain.sequence) for chain in chains] == [("A", "MKM"), ("B", "MW")]
    assert chains[0].residues == ["A/MET/1", "A/LYS/2", "A/MSE/4"]


def backbone(record: str, residue: str, number: int, x: float) -> str:
    """N, CA and C on a line; a residue 3.8 Angstrom further on is bound to this one."""
    return "".join(
        f"{record:<6}    1  {name:<3} {residue} A{number:4d}    {x + at:8.3f}   0.000   0.000"
        f"  1.00  0.00           {name[0]}\n"
        for name, at in (("N", 0.0), ("CA", 1.4), ("C", 2.5))
    )


def test_a_free_amino_acid_is_no_residue_of_its_chain(tmp_path: Path) -> None:
    """With it the target had a residue less than the query, and was its own anti-target."""
    path = tmp_path / "receptor.pdb"
    chain = [
        *(("ATOM", "MET", 1, 0.0), ("HETATM", "SEP", 2, 3.8)),
        # Each is beside a gap.
        *(("HETATM", "MSE", 5, 20.0), ("ATOM", "LYS", 6, 23.8), ("HETATM", "PTR", 7, 27.6)),
        ("ATOM", "TRP", 10, 50.0),
    ]
    free = (("HETATM", "GLU", 901, 70.0), ("HETATM", "GLU", 902, 90.0))
    path.write_text("".join(backbone(*one) for one in (*chain, *free)))
    (found,) = protein_chains(path)
    assert found.sequence == "MSMKYW"
    assert found.residues[-1] == "A/TRP/10"
    # Of a trace of CA nobody can say so.
    trace = [line for line in path.read_text().splitlines(True) if line[13:15] == "CA"]
    path.write_text("".join(trace))
    assert protein_chains(path)[0].sequence == "MSMKYWEE"


def test_an_inserted_domain_stands_where_it_is_bound(tmp_path: Path) -> None:
    """Its residues have numbers from 1001 on, as where a fusion protein helped to crystallise."""
    path = tmp_path / "fused.pdb"
    bound = (("MET", 1), ("SER", 2), ("TRP", 1001), ("TYR", 1002), ("LYS", 3), ("GLU", 4))
    rows = [backbone("ATOM", name, number, 3.8 * at) for at, (name, number) in enumerate(bound)]
    path.write_text("".join((*rows[:2], *rows[4:], *rows[2:4])))
    (found,) = protein_chains(path)
    assert found.sequence == "MSWYKE"
    assert found.residues[2:4] == ["A/TRP/1001", "A/TYR/1002"]


def test_a_structure_without_protein_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ion.pdb"
    path.write_text("".join(PDB.splitlines(keepends=True)[3:4]) + "END\n")
    with pytest.raises(InputError, match="contains no protein"):
        protein_chains(path)


def test_residues_that_line_a_pocket() -> None:
    label = np.array(["A/ASP/32/OD1", "A/ASP/32/CB", "A/GLY/34/CA"], object)
    xyz = np.array([[5.9, 0, 0], [20, 0, 0], [6.1, 0, 0]], "f4")
    assert lining(label, xyz, np.array([[0, 0, 0], [50, 0, 0]], "f4")) == {"A/ASP/32"}
