"""A network with random weights in place of gnina's three, whose files need not be here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gnina import in_place_of_gninas, random_tensors
from tests.torch_files import saved


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network with random weights."""
    return saved(tmp_path_factory.mktemp("weights") / "plain.pt", random_tensors("plain"))


@pytest.fixture
def installed(weights: Path) -> Iterator[None]:
    """That network in place of gnina's three."""
    with in_place_of_gninas(weights):
        yield
