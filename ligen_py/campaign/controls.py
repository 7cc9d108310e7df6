"""Controls of a campaign's targets: their libraries, parts and pockets, and flags of their rules.

Every target whose site names a reference ligand as SDF, MOL or MOL2 has the control library
``control-{target}``: that ligand from scratch, docked into its own target only. A target in the
section ``controls`` has the libraries ``actives-of-{target}`` and ``decoys-of-{target}`` beside:
they are docked before all others and are no part of the ranking, nor of the manifest.
"""

import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ligen_py.campaign.names import ACTIVES, CONTROL, DECOYS
from ligen_py.campaign.parts import Part
from ligen_py.campaign.sections import narrowed
from ligen_py.errors import InputError
from ligen_py.formats import LibraryFile, library_files, parts_of
from ligen_py.settings.controls import AcceptSettings, Control, ControlsSettings, DecoysSettings
from ligen_py.settings.flags import flags
from ligen_py.settings.parse import ParseSettings, Reading
from ligen_py.store.campaign.manifest import PartFiles

if TYPE_CHECKING:
    from ligen_py.campaign.workplan import Workplan

CONTROL_FILES = ("actives", "decoys")
"""Keys of a control that name files."""

CONTROL_CHUNK = 1000
"""Actives or decoys of one part."""

UNFILTERED = ParseSettings().model_dump(
    include={"max_atoms", "max_torsions", "properties", "alerts", "exclude"}
)
"""How `parse` treats known binders and decoys: no filter removes them."""

AS_DRAWN: dict[str, Any] = UNFILTERED | {
    "embed": "always", "standardise": False, "protonate": False, "tautomers": 1, "stereoisomers": 1,
    "mixtures": "largest",
}  # fmt: skip
"""How `parse` treats a reference ligand."""

WITH_BONDS = (".sdf", ".sd", ".sdf.gz", ".sd.gz", ".mol", ".mol.gz", ".mol2", ".mol2.gz")
"""Reference ligands that make a control: of these the bond orders are known."""


@dataclass(frozen=True)
class Controls:
    """The controls of a campaign, by target."""

    plan: "Workplan"

    def of(self, target: str) -> Control:
        """The controls of a target; one without an entry has the redocking alone."""
        return self.plan.settings.controls.get(target, Control())

    @cached_property
    def variants(self) -> dict[str, tuple[str, str]]:
        """Pockets for controls alone: name -> the campaign's pocket, and how waters are treated."""
        result: dict[str, tuple[str, str]] = {}
        for pocket, docked in self.plan.pockets.items():
            for waters in self.of(docked.target).waters:
                if waters != self.plan.settings.pocket.waters:
                    form = f".{docked.conformation}" if docked.conformation else ""
                    result[f"{docked.target}.waters-{waters}{form}"] = pocket, waters
        return result

    def library(self, pocket: str) -> str | None:
        """The name of a pocket's control library, where the reference ligand can be redocked.

        All conformations of a target have the same.
        """
        crystal = self.plan.crystal(pocket)
        if crystal is None or not crystal.name.lower().endswith(WITH_BONDS):
            return None
        return CONTROL + self.plan.pockets[pocket].target

    def chunk_files(self) -> dict[str, dict[str, LibraryFile]]:
        """Library of controls -> chunk -> its file; InputError where it cannot be read."""
        result = {}
        for pocket in self.plan.pockets:
            crystal, control = self.plan.crystal(pocket), self.library(pocket)
            if crystal is not None and control is not None:
                result[control] = {"1-of-1": LibraryFile(crystal, crystal.name, "", 0)}
        for target, given in self.plan.settings.controls.items():
            if given.actives is not None:
                result[ACTIVES + target] = self._cut(target, "actives", given.actives)
                drawn = Path(f"<results>/controls/{target}/decoys.smi")
                result[DECOYS + target] = (
                    {"1-of-1": LibraryFile(drawn, drawn.name, "", 0)}
                    if given.decoys is None
                    else self._cut(target, "decoys", given.decoys)
                )
        return result

    def _cut(self, target: str, field: str, given: str) -> dict[str, LibraryFile]:
        keys = ("controls", target, field)
        try:
            (file,) = library_files(self.plan.resolve(given, *keys))
        except InputError as error:
            raise InputError(f"{self.plan.config.place(*keys)}: {error}") from error
        count = parts_of(file, CONTROL_CHUNK)
        return {f"{number}-of-{count}": file for number in range(1, count + 1)}

    def is_drawn(self, library: str) -> bool:
        """Whether a library is one of decoys that the campaign draws."""
        target = library.removeprefix(DECOYS)
        return library != target and self.of(target).decoys is None

    def parts(self, target: str) -> list[tuple[str, str, PartFiles]]:
        """Group, form of the pocket, and files of every part of a target's controls."""
        pockets = self.plan.pockets
        forms = {name: target for name, docked in pockets.items() if docked.target == target}
        for name, (pocket, waters) in self.variants.items():
            if pockets[pocket].target == target:
                forms[name] = f"waters {waters}"
        result = []
        for pocket, form in forms.items():
            control = self.library(self.variants.get(pocket, (pocket,))[0])
            for group, library in (
                ("crystal", control),
                ("actives", ACTIVES + target),
                ("decoys", DECOYS + target),
            ):
                for chunk in self.plan.chunk_files.get(library or "", ()):
                    files = self._files(Part(pocket, str(library), chunk), group)
                    result.append((group, form, files))
        return result

    def _files(self, part: Part, group: str) -> PartFiles:
        return PartFiles(
            target=part.target,
            library=part.library,
            **part.paths("<results>"),
            control=group == "crystal",
            crystal=self.plan.crystal(part.target) if group == "crystal" else None,
            conformation=self.plan.docked_into(part.target).conformation,
        )

    def verdict_inputs(self, target: str) -> list[str]:
        """The files that the verdict on a target is made from."""
        return [
            str(path)
            for _, _, files in self.parts(target)
            for path in (files.ligands, files.refined, files.scores, files.crystal)
            if path is not None
        ]

    def verdict_flags(self, target: str) -> str:
        """Flags of `controls`, with the files below the folder `results`."""
        words = ["--target", target, "--origin", self.origin_of_decoys(target)]
        for group, form, files in self.parts(target):
            paths = (files.ligands, files.refined, files.scores, files.crystal or "")
            words += ["--part", group, form, files.conformation]
            words += [str(path).replace("<results>", "results") for path in paths]
        return f"{shlex.join(words)} {flags(self.limits(target))}"

    def limits(self, target: str) -> ControlsSettings:
        """What the controls of a target must show."""
        return narrowed(self.of(target), ControlsSettings)

    def origin_of_decoys(self, target: str) -> str:
        """Where the decoys of a target come from, in words."""
        if self.of(target).decoys is not None:
            return "given in a file"
        names = list(self.plan.settings.libraries)
        return f"drawn from the {'library' if len(names) == 1 else 'libraries'} {', '.join(names)}"

    def accept_flags(self, target: str) -> str:
        """Flags of `accept`."""
        return flags(narrowed(self.of(target), AcceptSettings))

    def decoys_flags(self, target: str) -> str:
        """Flags of `decoys`. Libraries stand as in the config: one that grows changes none."""
        words = [flags(narrowed(self.of(target), DecoysSettings))]
        for name, library in self.plan.settings.libraries.items():
            key = "parsed" if library.file is None else "file"
            path = self.plan.resolve(str(getattr(library, key)), "libraries", name, key)
            reading = flags(narrowed(library, Reading))
            words.append(shlex.join(["--library", str(path), f"--reading={reading}"]))
        return " ".join(words)
