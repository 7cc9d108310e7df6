"""Stored molecules and poses of any content, in files that are sealed again, read without harm."""

import contextlib
import io
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem, rdBase

from ligen_py import aggregate, export, pick, query, report
from ligen_py.molecules.export import sdf_record, symmetric_rmsd
from ligen_py.molecules.pdbqt import ligand_pdbqt
from ligen_py.molecules.stored import molecule_of
from ligen_py.store.campaign.known import KnownFiles
from tests.edited import edited
from tests.fuzz.damage import alone, fuzz
from tests.placed import started
from tests.stages.factory import Molecule, prepared, write_manifest, write_part

REFERENCE = "C/C=C/[C@H](N)C(=O)O"
MOLECULES = [
    Molecule("a", "C[C@@H](O)c1ccncc1", 3.0),
    Molecule("b", "C/C(F)=C(\\Cl)C[N+](=O)[O-]", 2.0),
    Molecule("c", "CC(=O)Nc1ccc(O)cc1", 1.0),
]


def pose(path: Path, out: Path) -> int:
    """Export a pose, as if the campaign had been made from the ligands as they are."""
    words = ["--campaign", str(path), "--output", str(out), "--pose", "t", "a", "20"]
    with patch.object(KnownFiles, "require"):
        return export.main(words)


COMMANDS = {
    "export": lambda path, out: export.main(
        ["--campaign", str(path), "--output", str(out), "--count", "3", "--pdbqt"]
    ),
    "pose": pose,
    "query": lambda path, out: query.main(
        [str(path), "--interacts", "hydrophobic:PHE36", "--output", str(out / "found.sdf")]
    ),
    "pick": lambda path, out: pick.main([str(path), "--output", str(out / "order.sdf")]),
    "aggregate": lambda path, out: aggregate.main(
        ["--manifest", str(path.with_name("manifest.tsv")), "--output", str(out / "new.h5")]
    ),
    "report": lambda path, out: report.main(
        ["--campaign", str(path), "--output", str(out / "page.html"), "--jobs", "1"]
    ),
}
IN_LIGANDS = {"pose", "aggregate"}
"""Commands that read the molecules of a ligands file."""

COLUMNS = ("molecule", "molecule", "molecule", "first_byte", "first_atom", "xyz")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A campaign of one target with a control, and its files."""
    folder = tmp_path_factory.mktemp("campaign")
    crystal = folder / "crystal.sdf"
    crystal.write_text(Chem.MolToMolBlock(started(prepared(REFERENCE).states[0].shape)))
    control = [Molecule("REF", REFERENCE, 4.0)]
    parts = [
        write_part(folder, "t", "lib", "1-of-1", MOLECULES),
        write_part(folder, "t", "control-t", "1-of-1", control, crystal=crystal),
    ]
    manifest = write_manifest(folder / "manifest.tsv", parts)
    words = ["--manifest", str(manifest), "--output", str(folder / "campaign.h5"), "--quiet"]
    assert aggregate.main(words) == 0
    return folder / "campaign.h5"


def spoil(file: h5py.File, column: str, seed: int) -> None:
    """Change some values of a column, or its length."""
    chance, dataset = np.random.default_rng(seed), file[column]
    values = dataset[...]
    for _ in range(chance.integers(1, 4)):
        place = chance.integers(values.size)
        if values.dtype.kind == "f":
            values.reshape(-1)[place] = chance.choice([np.nan, np.inf, 1e30, -1e30, 0])
        elif values.dtype == "u1":
            values[place] = chance.integers(256)
        else:
            values[place] += chance.choice([-(10**12), -7, -1, 1, 7, 10**12])
    dataset[...] = values


def said_by(command: str, path: Path, out: Path) -> tuple[int, str]:
    """The exit code of a command, and what it says on stderr; warnings of RDKit apart."""
    said = io.StringIO()
    out_too = contextlib.redirect_stdout(io.StringIO())
    with contextlib.redirect_stderr(said), out_too, rdBase.BlockLogs():
        code = COMMANDS[command](path, out)
    return code, said.getvalue()


@fuzz
@given(
    command=st.sampled_from(sorted(COMMANDS)),
    column=st.sampled_from(COLUMNS),
    seed=st.integers(0, 2**32),
    place=st.booleans(),
)
def test_commands_on_damaged_molecules(
    campaign: Path, command: str, column: str, seed: int, place: bool
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if command in IN_LIGANDS:
            kept = folder / "kept.h5"
            spoilt = campaign.parent / "ligands" / "lib" / "1-of-1.h5"
            shutil.copy(spoilt, kept)
            group, path = "ligands", campaign
        else:
            path = spoilt = folder / "campaign.h5"
            shutil.copy(campaign, path)
            shutil.copy(campaign.with_name("manifest.tsv"), folder)
            group = f"targets/t/{'reference' if place and command == 'report' else 'top'}"
        try:
            with edited(spoilt) as file:
                spoil(file, f"{group}/{column}", seed)
            code, said = alone(said_by, command, path, folder)
        finally:
            if command in IN_LIGANDS:
                shutil.copy(kept, spoilt)
        last = said.strip().rsplit("\n", 1)[-1]
        assert code in (0, 1), said
        assert code == 0 or str(spoilt) in last, said


USES = 4
"""Things that are done with a stored molecule."""


def use(octets: np.ndarray, xyz: np.ndarray) -> int:
    """Do all that is done with a stored molecule; how often that ends in a known error."""
    refused = 0
    with rdBase.BlockLogs(), tempfile.TemporaryDirectory() as folder:
        crystal = Path(folder) / "crystal.pdb"
        crystal.write_text(CRYSTAL)
        uses: tuple[Any, ...] = (
            lambda: sdf_record(octets, xyz, "a", {}),
            lambda: ligand_pdbqt(octets, xyz, {}),
            lambda: symmetric_rmsd(octets, xyz[None], crystal),
            lambda: Chem.MolToSmiles(Chem.RemoveHs(molecule_of(octets))),
        )
        assert len(uses) == USES
        for one in uses:
            try:
                one()
            except (ValueError, RuntimeError, LookupError):
                refused += 1
    return refused


CRYSTAL = Chem.MolToPDBBlock(started(prepared(REFERENCE).states[0].shape))


def refusals(seeds: list[int]) -> int:
    """How many uses of molecules with one to three other bytes end in a known error."""
    shapes = [prepared(one.smiles).states[0].shape for one in MOLECULES]
    assert not any(use(shape["molecule"], shape["xyz"]) for shape in shapes), "undamaged"
    refused = 0
    for seed in seeds:
        chance = np.random.default_rng(seed)
        shape = shapes[chance.integers(len(shapes))]
        octets = shape["molecule"].copy()
        for place in chance.integers(len(octets), size=chance.integers(1, 4)):
            octets[place] = chance.integers(256)
        refused += use(octets, shape["xyz"])
    return refused


def test_molecules_of_damaged_bytes_crash_nothing() -> None:
    """Of a thousand some are still molecules and others are refused; no process ends."""
    found = [alone(refusals, list(range(first, first + 100))) for first in range(0, 1000, 100)]
    assert all(0 < refused < 100 * USES for refused in found)
