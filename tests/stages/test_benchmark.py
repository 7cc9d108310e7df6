"""What the benchmarks measure is what the stages do."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from benchmarks.docking import (
    STAGES,
    Clock,
    LigandsInMemory,
    Settings,
    Target,
    dock,
    parsed,
    pocket_of,
)
from ligen_py.chain import screen
from ligen_py.opencl.device import select
from ligen_py.records.scores import SCORES, Scores
from ligen_py.store.files.read import read
from ligen_py.store.files.terms import read_terms

DHFR = Path(str(files("posebusters"))) / "datasets" / "pdb" / "1ia1"


@pytest.mark.parametrize("search", ["ligen", "lga"])
def test_the_benchmarks_run_of_the_engine_gives_the_stages_result(
    tmp_path: Path, search: str
) -> None:
    library = tmp_path / "two.smi"
    library.write_text("COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC trimethoprim\nCC(N)=O acetamide\n")
    settings = Settings(
        effort="draft",
        search=search,
        dock={"num_restart": 24},
        lga={"runs": 3, "population": 8, "generations": 3, "iterations": 8},
        score={"functions": ["vina", "ad4"]},
        parse={"protonate": False},
    )
    receptor, crystal = DHFR / "1ia1_protein_one_lig_removed.pdb", DHFR / "1ia1_ligand.sdf"
    ligands = parsed(library, tmp_path, settings.parse)
    pocket = pocket_of(receptor, crystal, 10.0, tmp_path, settings.pocket)
    assert parsed(library, tmp_path, settings.parse) == ligands

    made = {stage.kind: tmp_path / f"{stage.kind}.h5" for stage in screen(search)}
    made |= {"ligands": ligands, "pocket": pocket}
    for stage in screen(search):
        inputs = {flag: made[kind] for flag, kind in stage.inputs.items()}
        stage.run(inputs, getattr(settings, stage.name), None, made[stage.kind])

    clock = Clock()
    molecules = LigandsInMemory.of(ligands)
    found = dock(select(None), molecules, Target.of(pocket), settings, clock)
    expected = read_terms(made["scores"])
    assert set(found.columns) > {f"{f}.{term}" for f, terms in expected.items() for term in terms}
    for function, terms in expected.items():
        for term, values in terms.items():
            assert np.array_equal(found.columns[f"{function}.{term}"], values), (function, term)
    best = read(made["scores"], SCORES, Scores).best
    assert found.best_rows(len(best)).tolist() == best.tolist()
    for name in STAGES:
        assert clock.kernel[name] > 0 < clock.wall[name]


def test_the_invented_parts_can_be_merged_read_exported_and_reported(tmp_path: Path) -> None:
    program = Path(__file__).parents[2] / "benchmarks" / "aggregate.py"
    sizes = ["--parts", "2", "--ligands", "8", "--poses", "3"]
    done = subprocess.run(
        [sys.executable, program, tmp_path, *sizes], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    measured = [line.split()[4] for line in done.stdout.splitlines() if " MB  " in line]
    assert measured == ["aggregate", "aggregate", "query", "query", "query", "export", "report"]
    assert (tmp_path / "export" / "target.csv").read_text().count("\n") == 16 + 1
