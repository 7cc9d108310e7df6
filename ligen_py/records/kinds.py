"""Every kind of file that a stage writes for a part of a campaign, by name, in their order."""

from ligen_py.records.column import Kind
from ligen_py.records.database import DATABASE
from ligen_py.records.guides import GUIDES
from ligen_py.records.homologs import HOMOLOGS
from ligen_py.records.kept import KEPT
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.offtargets import OFFTARGETS
from ligen_py.records.pocket import POCKET
from ligen_py.records.poses import POSES
from ligen_py.records.refined import REFINED
from ligen_py.records.scores import SCORES

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (LIGANDS, POCKET, POSES, KEPT, REFINED, SCORES)
}

SEQUENCE_KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (DATABASE, HOMOLOGS, OFFTARGETS, GUIDES)
}
"""Every kind of file that a search of sequences writes."""
