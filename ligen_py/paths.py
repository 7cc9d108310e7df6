"""Where the project's own files lie, in a checkout and in an installed package."""

import getpass
import os
import tempfile
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ligen_py.errors import InputError

PACKAGE = Path(__file__).parent

ROOM = 1 << 18
"""Bytes that a cache has to take; the databases of other packages in it need some tens of KB."""


SHAPES = "pieces.sqlite"
"""Name of the file of rigid pieces' shapes, where a folder is given or none."""


@cache
def kernel_folder() -> Path:
    """The folder of OpenCL sources: inside an installed package, or beside it in a checkout."""
    return _folder("kernels")


def snakefile() -> Path:
    """The workflow's entry, for a user who installed the package and one who has a checkout."""
    return _folder("workflow").parent / "Snakefile"


def profile(name: str) -> Path:
    """The folder of one of the project's Snakemake profiles."""
    return _folder("workflow") / "profiles" / name


def examples() -> Path:
    """The folder of example campaigns."""
    return _folder("config")


def slurm_commands() -> Path:
    """The folder of commands that stand before Slurm's own on the PATH of the rules."""
    return _folder("workflow") / "slurm"


def _folder(name: str) -> Path:
    installed = PACKAGE / name
    return installed if installed.is_dir() else PACKAGE.parent / name


def cache_folder(name: str) -> Path:
    """A folder of the user's cache for what can be made again."""
    return user_cache() / "ligen_py" / name


def user_cache() -> Path:
    """The folder of the user's caches; one for temporary files where the home takes nothing."""
    given = os.environ.get("XDG_CACHE_HOME")
    with suppress(OSError, RuntimeError):  # there may be no home folder at all
        # Jobs of a campaign run in another folder.
        folder = Path(given).absolute() if given else Path.home() / ".cache"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK) and _has_room(folder):
            return folder
    return temporary_cache()


@cache
def _has_room(folder: Path) -> bool:
    """Whether a folder's disk, and the user's share of it, take some bytes more.

    Where they do not, OpenCL's and Snakemake's own caches would end every command.
    """
    with suppress(OSError), tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(ROOM))
        file.close()  # a share of a network's disk is refused here
        return True
    return False


def temporary_cache() -> Path:
    """A folder for temporary files in place of the user's cache."""
    return local_cache() or Path(tempfile.mkdtemp(prefix="ligen_py-cache-"))


def local_cache() -> Path | None:
    """A folder of this computer that no other user can write; None where one has taken its name."""
    folder = Path(tempfile.gettempdir()) / f"ligen_py-cache-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    return folder if folder.is_dir() and folder.lstat().st_uid == os.getuid() else None


def unknown_user() -> dict[str, str]:
    """Name and home, as variables, of a user whom the system does not know.

    Snakemake asks for both. A container that is started with a user's number has such a one.
    """
    found = {}
    try:
        getpass.getuser()
    except (KeyError, OSError):
        found["LOGNAME"] = str(os.getuid())
    try:
        Path.home()
    except RuntimeError:
        found["HOME"] = str(temporary_cache())
    return found


def shapes_file(given: Path | None = None) -> Path:
    """The file of rigid pieces' shapes: the given one, LIGEN_SHAPES, or one in the user's cache.

    Where a folder is given, it is the file of the usual name in it.
    """
    path = given or _named("LIGEN_SHAPES") or cache_folder("shapes") / SHAPES
    with suppress(OSError):  # a file that cannot be reached costs time only
        return path / SHAPES if path.is_dir() else path
    return path


def shapes_cure(path: Path) -> str:
    """What to do where a file is not one of shapes; one that was named may be another program's."""
    ours = path.parent == cache_folder("shapes")
    return "delete it" if ours else "name another file in LIGEN_SHAPES or by --shapes"


def _named(variable: str) -> Path | None:
    """The path in an environment variable; InputError where its home folder is nobody's."""
    given = os.environ.get(variable)
    try:
        return Path(given).expanduser() if given else None
    except RuntimeError as error:
        cure = "there is no such home folder; correct the path"
        raise InputError(f"{variable}={given}: {cure}") from error


INSTALL_NETWORKS = "install them with 'pip install --no-deps gninatorch==0.0.2'"
NETWORKS_HINT = f"{INSTALL_NETWORKS}, or name their folder in LIGEN_NETWORKS"


def networks_cure() -> str:
    """What to do where a file of gnina's networks is not in their folder, or is another one."""
    if os.environ.get("LIGEN_NETWORKS"):
        return (
            f"{INSTALL_NETWORKS} and unset LIGEN_NETWORKS, or put the three .pt files of that "
            "package into the folder that it names"
        )
    return NETWORKS_HINT


def network_folder() -> Path | None:
    """The folder of gnina's networks: LIGEN_NETWORKS, or that of the package gninatorch.

    The package is not imported. None where there is neither.
    """
    if given := _named("LIGEN_NETWORKS"):
        return given
    package = find_spec("gninatorch")
    return Path(str(package.origin)).parent / "weights" if package and package.origin else None
