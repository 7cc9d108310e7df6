"""What an earlier run has left in a campaign's folder, and where that is not as it should be."""

from dataclasses import dataclass
from pathlib import Path

from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import FILES, STAGES
from ligen_py.errors import InputError
from ligen_py.paths import NETWORKS_HINT
from ligen_py.settings.campaign import NETWORKS
from ligen_py.store.campaign.exported import names_of
from ligen_py.store.campaign.manifest import PartFiles, read_manifest
from ligen_py.store.campaign.scored import functions_before
from ligen_py.store.files.fresh import is_old
from ligen_py.store.files.text import listed_in

MARK = STAGES["export"].path
"""File below the results that names all others of its folder; it is written last."""


@dataclass(frozen=True)
class EarlierRun:
    """What a campaign finds in its folder; nothing where none was run there."""

    plan: Workplan
    folder: Path

    @property
    def results(self) -> Path:
        """The folder of its results."""
        return self.folder / "results"

    def missing(self) -> list[Path]:
        """Files that are not there, of those that a run makes on its way, where one has ended.

        Snakemake makes none that is missing before a result that is up to date, unless it is asked.
        """
        plan, results = self.plan, self.results
        if not any((results / end).exists() for end in ("campaign.h5", "report.html")):
            return []
        parts = plan.manifest(str(results)).parts
        files = [getattr(part, kind) for part in parts for kind in FILES]
        files += map(Path, plan.searches.converted(str(results)))
        files += map(Path, plan.searches.every_part_file(str(results)))
        files += plan.searches.tables(str(results))
        if parts:
            files += [results / name for name in ("manifest.tsv", "campaign.h5")]
            files += [results / "networks.h5"] if plan.settings.networks.best else []
            verdicts = ("controls.json", "controls.txt")
            files += [results / "controls" / name / one for name in plan.ranked for one in verdicts]
            files += self.exported()
        return [path for path in dict.fromkeys(files) if not path.exists()]

    def lost(self) -> list[tuple[Path, str]]:
        """What is no longer as the run left it, and in words how.

        Files of parts and targets that it had not are not missing. A run makes all of them again.
        Raises InputError where the earlier run's list of parts cannot be read.
        """
        missing, listed = self.missing(), self.results / "manifest.tsv"
        if self.plan.pockets and listed.exists():
            earlier = read_manifest(listed).parts
            known, targets = {part.label for part in earlier}, {part.target for part in earlier}
            parts = self.plan.manifest(str(self.results)).parts
            new = [part for part in parts if part.label not in known]
            files = {getattr(part, kind) for part in new for kind in FILES}
            ranked = [name for name in self.plan.ranked if name not in targets]
            folders = {self.results / "controls" / name for name in ranked}
            missing = [one for one in missing if one not in files and one.parent not in folders]
        found = [(file, "is missing") for file in missing]
        # By its time alone: a campaign copied with new times has such files, too.
        newer = "is newer than the run that wrote it, as an edited file or a copy is"
        return found + [(file, newer) for file in self.changed()]

    def changed(self) -> list[Path]:
        """Exported files that are newer than the end of the job that wrote them."""
        mark = self.results / MARK
        files = [path for path in self.exported() if path.is_file()]
        return [path for path in files if path.stat().st_mtime > mark.stat().st_mtime]

    def exported(self) -> list[Path]:
        """What `export` has written of this campaign's targets, by its own list.

        Without what it would not write with this config.
        """
        mark, settings = self.results / MARK, self.plan.settings
        networks, pdbqt = bool(settings.networks.best), settings.export.pdbqt
        own = names_of(self.plan.ranked, networks=networks, pdbqt=pdbqt)
        return [mark.parent / name for name in listed_in(mark) if own.fullmatch(name)]

    def other_targets(self) -> list[str]:
        """Targets that it had and this campaign has not; InputError as `lost`."""
        listed = self.results / "manifest.tsv"
        if not self.plan.pockets or not listed.exists():
            return []
        found = dict.fromkeys(part.target for part in read_manifest(listed).parts)
        known = {docked.target for docked in self.plan.every_pocket.values()}
        return [target for target in found if target not in known]

    def require_networks(self) -> None:
        """Raise InputError where networks scored there, and now would not."""
        if self.plan.lacks_networks and NETWORKS in functions_before(self.results):
            functions = ", ".join(self.plan.settings.score.functions)
            raise InputError(
                f"{self.results}: was scored with gnina's networks, which are not installed now, "
                "so that a run would replace all scores by those of energies alone; "
                f"{NETWORKS_HINT}, or write 'score: {{functions: [{functions}]}}' into the config "
                "to go without them"
            )

    def is_old(self, part: PartFiles) -> bool:
        """Whether a part's files are of other code, settings or inputs than this campaign's."""
        return is_old(*self.plan.screening(part))
