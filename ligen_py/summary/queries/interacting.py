"""Molecules whose stored pose interacts with residues."""

from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np

from ligen_py.errors import UsageError
from ligen_py.molecules.interactions.receptor import Surroundings, surroundings
from ligen_py.molecules.interactions.residues import interactions_of, wanted_interactions
from ligen_py.store.campaign.reader import TargetReader

SUCH_AS = 5
"""Residues that are named where none is like the given one."""


class Interacting:
    """Which poses of a target have every interaction that --interacts names."""

    def __init__(self, given: Sequence[str], target: TargetReader) -> None:
        self._given, self._target = given, target
        self._site = target.site()
        self._known: dict[str, tuple[Surroundings, list[set[tuple[str, str]]]]] = {}
        self.without = 0
        """Rows without a stored pose, which were not looked at."""

    def fitting(self, rows: np.ndarray) -> np.ndarray:
        """Those of some rows whose stored pose has every interaction."""
        stored = self._target.has_pose(rows)
        self.without += int((~stored).sum())
        rows = rows[stored]
        keep = []
        for pose in self._target.poses_of(rows):
            around, wanted = self._around(pose.conformation)
            found = interactions_of(pose.molecule, pose.xyz, around)
            keep.append(all(some & found for some in wanted))
        return rows[np.array(keep, bool)]

    def _around(self, conformation: str) -> tuple[Surroundings, list[set[tuple[str, str]]]]:
        if conformation not in self._known:
            around = surroundings(self._site.of(conformation))
            self._known[conformation] = around, [self._wanted(one, around) for one in self._given]
        return self._known[conformation]

    def _wanted(self, given: str, around: Surroundings) -> set[tuple[str, str]]:
        try:
            wanted = wanted_interactions(given, around)
        except ValueError as error:
            raise UsageError(f"--interacts '{given}': {error}") from error
        # A residue may be far from the site in one conformation, or missing in its structure.
        if not wanted and not self._is_in_another(given):
            names = [residue.partition(" ")[0] for residue in dict.fromkeys(around.residue)]
            close = get_close_matches(given.rpartition(":")[2].strip().upper(), names, n=1)
            known = f"it has {len(names)}, such as {', '.join(names[:SUCH_AS])}"
            hint = f"did you mean '{close[0]}'?" if close else known
            where = f"no residue of the pocket of {self._target.name}"
            raise UsageError(f"--interacts {given}: {where}; {hint}")
        return wanted

    def _is_in_another(self, given: str) -> bool:
        """Whether any conformation of the target has the residue."""
        each = dict.fromkeys(self._site.conformation)
        return any(wanted_interactions(given, surroundings(self._site.of(one))) for one in each)
