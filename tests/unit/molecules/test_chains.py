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


def test_a_structure_without_protein_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ion.pdb"
    path.write_text("".join(PDB.splitlines(keepends=True)[3:4]) + "END\n")
    with pytest.raises(InputError, match="contains no protein"):
        protein_chains(path)


def test_residues_that_line_a_pocket() -> None:
    label = np.array(["A/ASP/32/OD1", "A/ASP/32/CB", "A/GLY/34/CA"], object)
    xyz = np.array([[5.9, 0, 0], [20, 0, 0], [6.1, 0, 0]], "f4")
    assert lining(label, xyz, np.array([[0, 0, 0], [50, 0, 0]], "f4")) == {"A/ASP/32"}
