"""Read ligands and a receptor as scoring functions see them."""

from collections.abc import Iterable
from pathlib import Path

from ligen_py.functions import FUNCTIONS, AtomTypes, load_types
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.pocket import POCKET, Receptor
from ligen_py.records.typed import Typed
from ligen_py.store.files.read import read


def read_typed(
    functions: Iterable[str], ligands_file: Path, pocket_file: Path, ligands: Ligands
) -> dict[str, Typed]:
    """Function -> ligands and receptor as it sees them; `ligands` are those of the file.

    Functions with the same atom types share the records. Raises InputError as `read` does.
    """
    receptor = read(pocket_file, POCKET, Receptor)
    found: dict[AtomTypes | None, Typed] = {None: Typed(ligands, receptor)}
    for name in functions:
        types = FUNCTIONS[name].types
        if types is not None and types not in found:
            records = load_types(types, "records")
            found[types] = Typed(
                read(ligands_file, LIGANDS, records.LIGANDS, ligands),
                read(pocket_file, POCKET, records.RECEPTOR, receptor)
                if issubclass(records.RECEPTOR, Receptor)
                else read(pocket_file, POCKET, records.RECEPTOR),
            )
    return {name: found[FUNCTIONS[name].types] for name in functions}
