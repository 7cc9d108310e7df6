"""Kernels are compiled anew when an include has changed."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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


@pytest.mark.parametrize(
    ("back_end", "version", "standard"),
    [
        ("khr", "OpenCL 3.0 (Build 0)", "CL3.0"),
        ("khr", "OpenCL 3.0 NEO ", "CL3.0"),
        ("khr", "OpenCL 2.1 NEO ", "CL2.0"),
        ("ptx", "OpenCL 3.0 CUDA", "CL1.2"),
        ("local", "OpenCL 2.0 AMD-APP (3581.0)", "CL1.2"),
    ],
)
def test_a_driver_is_given_a_language_that_it_knows(
    back_end: str, version: str, standard: str
) -> None:
    device: Any = SimpleNamespace(back_end=back_end, handle=SimpleNamespace(version=version))
    assert program._standard(device) == standard


def whole(text: str, seen: set[str]) -> str:
    """A source with its includes in their places, each once."""

    def included(match: re.Match[str]) -> str:
        name = match[1]
        if name in seen:
            return ""
        seen.add(name)
        path = program.kernel_folder() / "include" / name
        return whole(path.read_text(encoding="utf-8"), seen)

    return program.INCLUDE.sub(included, text)


def test_no_source_computes_before_it_forbids_contraction() -> None:
    """A function before the pragma had a * b + c in one operation on some devices."""
    folder = program.kernel_folder()
    fields = ["ad4_field.clh", "vina_field.clh", "xscore_field.clh"]
    sources = sorted(folder.rglob("*.cl"))
    assert len(sources) > 10
    for path in sources:
        for field in fields:
            seen: set[str] = set()
            code = whole(path.read_text(encoding="utf-8"), seen)
            code = whole(code.replace("#include FIELD", f'#include "{field}"'), seen)
            code = re.sub(r"//[^\n]*", "", code)
            if not re.search(r"\bfloat", code):
                continue
            body = re.search(r"\)\s*\{", code)
            assert body is not None, path
            assert 0 <= code.find("#pragma OPENCL FP_CONTRACT OFF") < body.start(), (path, field)
