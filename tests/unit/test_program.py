"""Kernels are compiled anew when an include has changed."""

from pathlib import Path

import numpy as np
import pytest

from ligen_py.opencl import program


def test_the_digest_follows_every_include(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    include = tmp_path / "include"
    include.mkdir()
    for name, text in (("one", '#include "two.clh"\n'), ("two", "2"), ("other", "3")):
        (include / f"{name}.clh").write_text(text)
    field = tmp_path / "field.clh"
    field.write_text("a")
    monkeypatch.setattr(program, "kernel_folder", lambda: tmp_path)

    def digests() -> list[str]:
        source = '#include "one.clh"\n#include FIELD\n'
        return [program.includes_digest(source, f"<{name}>") for name in ("two.clh", field)]

    first = digests()
    (include / "other.clh").write_text("4")
    assert digests() == first
    (include / "two.clh").write_text("5")
    second = digests()
    field.write_text("b")
    third = digests()
    assert len({*first, *second, third[1]}) == 5
    assert third[0] == second[0]
    assert program.includes_digest("") != first[0]


def test_rows_are_declared_as_numpy_lays_them_out() -> None:
    row = np.dtype([("first", np.int64), ("count", np.int32), ("sums", np.float32, (3,))])
    assert program.declared({"row_t": row}) == (
        "typedef struct { long first; int count; float sums[3]; } row_t;"
    )
    with pytest.raises(ValueError, match="row_t has gaps"):
        program.declared({"row_t": np.dtype([("count", np.int32), ("first", np.int64)])})
    with pytest.raises(ValueError, match="row_t has gaps"):
        program.declared({"row_t": np.dtype([("first", np.int64), ("count", np.int32)])})
