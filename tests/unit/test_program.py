"""Kernels are compiled anew when an include has changed."""

from pathlib import Path

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
