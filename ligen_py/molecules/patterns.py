"""Which molecules have a substructure."""

from collections.abc import Iterable

import numpy as np
from rdkit import Chem, rdBase

from ligen_py.errors import UsageError


class Pattern:
    """A SMARTS, parsed once."""

    def __init__(self, smarts: str, flag: str) -> None:
        """UsageError, with the flag, for what is no SMARTS."""
        with rdBase.BlockLogs():
            self._query = Chem.MolFromSmarts(smarts)
        if self._query is None or not self._query.GetNumAtoms():
            raise UsageError(f"{flag} '{smarts}': no SMARTS; correct it")

    def matches(self, smiles: Iterable[str]) -> np.ndarray:
        """Which of some canonical SMILES have the substructure: bool (molecules,)."""
        with rdBase.BlockLogs():
            found = (Chem.MolFromSmiles(text) for text in smiles)
            return np.array(
                [mol is not None and mol.HasSubstructMatch(self._query) for mol in found], bool
            )
