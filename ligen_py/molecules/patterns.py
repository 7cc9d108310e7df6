"""Which molecules have a substructure."""

from collections.abc import Iterable
from functools import cache

import numpy as np
from rdkit import Chem, rdBase

from ligen_py.errors import UsageError


@cache
def query_of(smarts: str) -> Chem.Mol | None:
    """A SMARTS for molecules whose hydrogens are no atoms, as C(=O)[H] may say; None if it is none.

    Its hydrogens become counts of those that their neighbours have: as atoms they match nothing.
    """
    with rdBase.BlockLogs():
        query = Chem.MolFromSmarts(smarts)
        if query is None or not query.GetNumAtoms():
            return None
        return Chem.MergeQueryHs(query)


class Pattern:
    """A SMARTS, parsed once."""

    def __init__(self, smarts: str, flag: str) -> None:
        """UsageError, with the flag, for what is no SMARTS."""
        query = query_of(smarts)
        if query is None:
            raise UsageError(f"{flag} '{smarts}': no SMARTS; correct it")
        self._query = query

    def matches(self, smiles: Iterable[str]) -> np.ndarray:
        """Which of some canonical SMILES have the substructure: bool (molecules,)."""
        with rdBase.BlockLogs():
            found = (Chem.MolFromSmiles(text) for text in smiles)
            return np.array(
                [mol is not None and mol.HasSubstructMatch(self._query) for mol in found], bool
            )
