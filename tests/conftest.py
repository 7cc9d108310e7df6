"""Fixtures shared by all tests."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real complexes and libraries beside the project; tests skip without it."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared/data with real complexes and libraries is not here")
    return SHARED
