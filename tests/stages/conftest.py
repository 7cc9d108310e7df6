"""What tests of several stages share: a single core, and a network in place of gnina's three."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ligen_py import granted
from tests.gnina import in_place_of_gninas, random_tensors
from tests.torch_files import saved


@pytest.fixture(scope="module")
def one_core() -> Iterator[None]:
    """One process, where nothing else is asked for: a few molecules are not worth another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(granted, "cores", lambda: 1)
        yield


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network with random weights."""
    return saved(tmp_path_factory.mktemp("weights") / "plain.pt", random_tensors("plain"))


@pytest.fixture
def installed(weights: Path) -> Iterator[None]:
    """That network in place of gnina's three."""
    with in_place_of_gninas(weights):
        yield
