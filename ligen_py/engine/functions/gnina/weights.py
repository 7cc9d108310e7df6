"""The networks of the files that a user has."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ligen_py.engine.functions.gnina.checkpoint import read_tensors
from ligen_py.engine.functions.gnina.networks import Network, UnknownNetworkError, network
from ligen_py.errors import InputError
from ligen_py.paths import NETWORKS_HINT, network_folder, networks_cure


def load(digests: Mapping[str, str], folder: Path | None = None) -> list[Network]:
    """Networks by the names of their files in a folder, or in the one that is installed.

    Args:
        digests: name -> SHA-256 of the file.
        folder: where NAME.pt lies; None: `paths.network_folder`.

    Raises:
        InputError: there is no such folder or file, or it is another one.
    """
    folder = folder or network_folder()
    if folder is None:
        raise InputError(f"the weights of gnina's networks are not installed: {NETWORKS_HINT}")
    return [_known(folder / f"{name}.pt", digest) for name, digest in digests.items()]


def _known(path: Path, digest: str) -> Network:
    found = read(path)
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise InputError(f"{path}: is another network than gnina's of that name; {networks_cure()}")
    return found


def read(path: Path) -> Network:
    """The network of a file; InputError where it is none."""
    try:
        return network(read_tensors(path))
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file; {networks_cure()}") from error
    except UnknownNetworkError as error:
        raise InputError(
            f"{path}: is none of gnina's networks of the kinds default2018 and dense ({error}); "
            "give one of these"
        ) from error
