"""Files that are seen whole or not at all."""

from pathlib import Path

import pytest

from ligen_py.whole_files import write_whole


def test_a_file_is_written_anew_or_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cache" / "one"
    for content in (b"first", b"second"):
        write_whole(path, content)
        assert path.read_bytes() == content

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for method in ("write_bytes", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, method, full)
            with pytest.raises(OSError, match="No space left"):
                write_whole(path, b"third")
        assert path.read_bytes() == b"second"
        assert list(path.parent.iterdir()) == [path]
