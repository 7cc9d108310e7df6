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

    def __init__(
        self, given: Sequence[str], target: TargetReader, asked: Sequence[TargetReader]
    ) -> None:
        """`asked`: all targets of the question, one of which must have the residue."""
        self._given, self._target, self._asked = given, target, asked
        self._site = target.site()
        self._known: dict[str, tuple[Surroundings, list[set[tuple[str, str]]]]] = {}
        self.without = 0
        """Rows without a stored pose, which were not looked at."""
        self.lacking: dict[str, None] = {}
        """What was given of residues that the target has not, so that no pose fits."""
        for conformation in self._site.conformation[:1]:
            self._around(str(conformation))  # a word that means nothing is said, whatever fits

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
        if wanted or self._has(self._target, given):
            return wanted
        if not any(self._has(one, given) for one in self._asked):
            names = [residue.partition(" ")[0] for residue in dict.fromkeys(around.residue)]
            close = get_close_matches(given.rpartition(":")[2].strip().upper(), names, n=1)
            known = f"it has {len(names)}, such as {', '.join(names[:SUCH_AS])}"
            hint = f"did you mean '{close[0]}'?" if close else known
            where = f"no residue of the pocket of {self._target.name}"
            raise UsageError(f"--interacts {given}: {where}; {hint}")
        self.lacking[given] = None
        return wanted

    def _has(self, target: TargetReader, given: str) -> bool:
        """Whether any conformation of a target has the residue."""
        site = target.site()
        each = dict.fromkeys(site.conformation)
        return any(wanted_interactions(given, surroundings(site.of(one))) for one in each)
