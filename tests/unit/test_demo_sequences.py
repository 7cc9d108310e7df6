"""The made data of `make demo-sequences`, and its campaign."""

import importlib.util
from pathlib import Path

import numpy as np
import yaml

from ligen_py.campaign.workplan import Workplan
from ligen_py.config_checks import check_files
from ligen_py.engine.alignment import reference
from ligen_py.engine.alignment.scoring import Scoring
from ligen_py.sequences.genes import read_annotation
from ligen_py.sequences.proteins import read_proteins
from ligen_py.sequences.substitution import read_matrix

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "config" / "demo-sequences"


def written(folder: Path) -> Path:
    spec = importlib.util.spec_from_file_location("make_data", DEMO / "make_data.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.write(folder)
    return folder


def test_the_data_are_the_same_again_and_fit_the_config(tmp_path: Path) -> None:
    one, two = written(tmp_path / "demo" / "sequences"), written(tmp_path / "again")
    names = {path.name for path in one.iterdir()}
    assert names == {path.name for path in two.iterdir()}
    assert all((one / name).read_bytes() == (two / name).read_bytes() for name in names)
    config = tmp_path / "config" / "demo-sequences" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text((DEMO / "config.yaml").read_text())
    plan = Workplan.of(yaml.safe_load(config.read_text()), str(config), config.parent)
    check_files(plan)
    assert read_annotation(one / "genes.gtf").gene("GENE1").strand == 1


def test_relatives_score_higher_than_strangers(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (query,) = read_proteins(folder / "query.fa").letters
    found = read_proteins(folder / "proteins.fa")
    relatives = [n for n, name in enumerate(found.name) if name.startswith("sp|R")]
    strangers = [n for n, name in enumerate(found.name) if name.startswith("sp|U")][:60]
    some = [*relatives, *strangers]
    scoring = Scoring(read_matrix("BLOSUM62"))
    scores = reference.scores(query, [found.letters[n] for n in some], scoring)
    assert len(relatives) == 12
    assert np.min(scores[:11]) > np.max(scores[12:])
