"""Where the project's own files lie, in a checkout and in an installed package."""

from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent


@cache
def kernel_folder() -> Path:
    """The folder of OpenCL sources: inside an installed package, or beside it in a checkout."""
    installed = PACKAGE / "kernels"
    return installed if installed.is_dir() else PACKAGE.parent / "kernels"
