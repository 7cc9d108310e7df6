import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ligen_py.api import Hits, Pocket, dock
from tests.mini import DHFR, Mini

FAST = {
    "dock": {"num_restart": 12, "num_iterations": 1, "n_angles": 8},
    "filter": {"max_num_poses": 4},
    "refine": {"rounds": 1, "evaluations": 8, "max_num_poses": 3},
}
"""As `tests.mini` has it."""

PROTEIN = DHFR / "1ia1_protein_one_lig_removed.pdb"
REFERENCE = DHFR / "1ia1_ligand.sdf"


@contextmanager
def one_process(factory: pytest.TempPathFactory) -> Iterator[None]:
    """No other process of this run of the tests does its own, which compiles the same programs.

    Whoever comes second finds them in the cache.
    """
    with (factory.getbasetemp().parent / "compiling").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def pocket() -> Pocket:
    return Pocket.from_pdb(PROTEIN, site=REFERENCE, chains="B", radius=8, name="dhfr")


@pytest.fixture(scope="session")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Mini:
    with one_process(tmp_path_factory):
        return Mini(tmp_path_factory.mktemp("mini"), control=True).run()


@pytest.fixture(scope="session")
def library_hits(pocket: Pocket, mini: Mini) -> Hits:
    return dock(pocket, mini.folder / "lib.smi", settings=FAST, redock=True, poses=3)


@pytest.fixture(scope="session")
def kept(pocket: Pocket, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept") / "out"
    dock(pocket, ["CCO ethanol", "c1ccccc1"], settings=FAST, folder=folder, poses=2, pdbqt=True)
    return folder
