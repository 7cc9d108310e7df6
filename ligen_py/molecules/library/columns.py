"""Find the columns of the SMILES and of the name in a table, by the names of the columns."""

import re
from collections.abc import Sequence
from pathlib import Path

from ligen_py.errors import InputError

SMILES_NAMES = (
    *("smiles", "isomeric_smiles", "canonical_smiles", "cxsmiles", "smiles_string", "smi"),
    *("std_smiles", "standardized_smiles", "mol_smiles", "molecule_smiles", "ligand_smiles"),
)
"""Names of a SMILES column, best first, in lower case with _ for blanks and dashes."""
ID_NAMES = (
    *("id", "zinc_id", "zincid", "chembl_id", "molecule_chembl_id", "idnumber", "id_number"),
    *("catalog_id", "catalog_number", "compound_id", "molecule_id", "mol_id", "ligand_id"),
    *("substance_id", "molport_id", "cid", "name", "title", "molecule_name", "compound_name"),
    "mol_name",
)
"""Names of a name column, best first; then any that ends in _id, then these without their _."""

LISTED = 40
"""Most columns that a message lists."""


def plain(name: str) -> str:
    """A column's name for comparisons: lower case, _ for blanks and dashes.

    >>> plain("Catalog ID")
    'catalog_id'
    """
    return re.sub(r"[\s\-]+", "_", name.strip().casefold())


def find(path: Path, names: Sequence[str], wanted: str) -> int:
    """The index of the wanted column, if needed regardless of upper and lower case.

    Raises InputError if it does not exist, or more than once.
    """
    places = [i for i, name in enumerate(names) if name == wanted]
    places = places or [i for i, name in enumerate(names) if plain(name) == plain(wanted)]
    if len(places) > 1:
        differ = len({names[i] for i in places}) == len(places)
        choose = "write the name as one of them does, or " if differ else ""
        raise InputError(
            f"{path}: {len(places)} columns are called '{wanted}' ({_quoted(names, places)}); "
            f"{choose}rename one in the file"
        )
    if not places:
        raise InputError(f"{path}: no column is called '{wanted}'; {_listed(names)}")
    return places[0]


def find_smiles(path: Path, names: Sequence[str]) -> int:
    """The column of the SMILES, by its name; InputError if none or several qualify.

    Of columns with one and the same name it is the first.
    """
    known = [plain(name) for name in names]
    together = [_together(name) for name in known]  # PubChem writes IsomericSMILES
    guesses = [(known, guess) for guess in SMILES_NAMES]
    guesses += [(together, _together(guess)) for guess in SMILES_NAMES]
    found = ([i for i, name in enumerate(those) if name == guess] for those, guess in guesses)
    places = next(filter(None, found), [i for i, name in enumerate(known) if "smiles" in name])
    if len({names[i] for i in places}) == 1:
        return places[0]
    fault, way = "several columns may contain SMILES", ""
    if not places:
        fault, way = "no column is called after SMILES", ", by its number in a table without header"
    else:
        fault += f" ({_quoted(names, places)})"
    raise InputError(
        f"{path}: {fault}; name one with smiles_column{way}, or call it 'smiles' in the file; "
        f"{_listed(names)}"
    )


def find_name(names: Sequence[str], smiles: int = -1) -> int:
    """The column of the molecules' names, by its name; -1 if none qualifies."""
    known = [plain(name) for name in names]
    for guess in ID_NAMES:
        if guess in known and known.index(guess) != smiles:
            return known.index(guess)
    ids = [i for i, name in enumerate(known) if name.endswith("_id") and i != smiles]
    together = [_together(name) for name in known]
    ids += [
        together.index(guess)
        for guess in map(_together, ID_NAMES)
        if guess in together and together.index(guess) != smiles
    ]
    return ids[0] if ids else -1


def _together(name: str) -> str:
    """A column's plain name without its joints, as in CatalogID."""
    return name.replace("_", "")


def _quoted(names: Sequence[str], places: Sequence[int]) -> str:
    return ", ".join(repr(names[place]) for place in places[:LISTED])


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"its columns are: {', '.join(names[:LISTED])}{more}"
