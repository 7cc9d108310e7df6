"""Kernels are compiled anew when an include has changed."""

from pathlib import Path

import numpy as np
import pytest

from ligen_py.opencl import program


def test_the_digest_follows_every_include(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    include = tmp_path / "include"
    include.mkdir()
    (include / "one.clh").write_text("1")
    field = tmp_path / "field.clh"
    field.write_text("a")
    monkeypatch.setattr(program, "kernel_folder", lambda: tmp_path)
    found = [program.includes_digest("<one.clh>"), program.includes_digest(f"<{field}>")]
    (include / "one.clh").write_text("2")
    found += [program.includes_digest("<one.clh>"), program.includes_digest(f"<{field}>")]
    field.write_text("b")
    found.append(program.includes_digest(f"<{field}>"))
    assert len(set(found)) == 5
    assert program.includes_digest("<one.clh>") == found[2]


def test_rows_are_declared_as_numpy_lays_them_out() -> None:
    row = np.dtype([("first", np.int64), ("count", np.int32), ("sums", np.float32, (3,))])
    assert program.declared({"row_t": row}) == (
        "typedef struct { long first; int count; float sums[3]; } row_t;"
    )
    with pytest.raises(ValueError, match="row_t has gaps"):
        program.declared({"row_t": np.dtype([("count", np.int32), ("first", np.int64)])})
    with pytest.raises(ValueError, match="row_t has gaps"):
        program.declared({"row_t": np.dtype([("first", np.int64), ("count", np.int32)])})
