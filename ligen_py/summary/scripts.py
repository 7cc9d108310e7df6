"""Scripts that show a receptor, a reference ligand and the hits in PyMOL and in ChimeraX.

Both find the files beside themselves, wherever the folder is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Scene:
    """The files of a scene, by name, and what they contain."""

    title: str
    receptors: Sequence[str]
    hits: str
    records: int
    """Records of the file `hits`, at most: a molecule may have fewer poses than were asked for."""
    reference: str | None = None
    networks: str | None = None
    """The file of the poses that networks choose."""

    def with_reference(self, file: str) -> "Scene":
        """The same with a reference ligand."""
        return replace(self, reference=file)


NEAR = 5
"""Residues with an atom this near (Angstrom) to a hit are drawn with their atoms."""


def pymol(scene: Scene) -> str:
    """A script for PyMOL: hits are states of one object, which the arrow keys go through."""
    loads = [
        f"cmd.load(os.path.join(here, {file!r}), 'receptor{number or ''}')"
        for number, file in enumerate(scene.receptors)
    ]
    if scene.reference:
        loads.append(f"cmd.load(os.path.join(here, {scene.reference!r}), 'reference')")
    loads.append(f"cmd.load(os.path.join(here, {scene.hits!r}), 'hits', discrete=1)")
    if scene.networks:
        loads.append(f"cmd.load(os.path.join(here, {scene.networks!r}), 'networks', discrete=1)")
    lines = [
        f"# {scene.title}. Open this file in PyMOL, the arrow keys go from hit to hit.",
        *("python", "import os", "here = os.path.dirname(os.path.abspath(__script__))"),
        *(*loads, "python end"),
        *("hide everything", "bg_color white", "show cartoon, receptor*"),
        *("color grey80, receptor*", "show sticks, receptor* and hetatm"),
        f"select site, byres (receptor* within {NEAR} of hits)",
        *("show sticks, site", "set stick_radius, 0.12, site", "hide sticks, hydro and site"),
        "set cartoon_transparency, 0.5",
        *("show sticks, hits", "util.cnc receptor*", "util.cbac hits"),
        *(("show sticks, reference", "util.cbay reference") if scene.reference else ()),
        *(("show sticks, networks", "util.cbap networks") if scene.networks else ()),
        *(("disable networks",) if scene.networks else ()),
        "show sticks, site and hydro and (neighbor (elem N+O+S))",
        "distance contacts, site, hits, mode=2",
        *("hide labels, contacts", "deselect", "zoom hits, 6"),
    ]
    return "\n".join(lines) + "\n"


def chimerax(scene: Scene) -> str:
    """A script for ChimeraX: each hit is a model, of which the first is shown."""
    receptors = len(scene.receptors)
    hits = receptors + 1 + bool(scene.reference)
    lines = [f"# {scene.title}. Open this file in ChimeraX, the panel Models shows other hits."]
    lines += [f'open "{file}" name receptor' for file in scene.receptors]
    if scene.reference:
        lines.append(f'open "{scene.reference}" name reference')
    lines.append(f'open "{scene.hits}"')
    proteins = f"#1-{receptors}" if receptors > 1 else "#1"
    lines += [
        *(f"hide {proteins} atoms", f"cartoon {proteins}", f"color {proteins} lightgray"),
        f"show (#{hits} :< {NEAR}) & {proteins} atoms",
        *(f"style {proteins} stick", f"color {proteins} byhetero", f"style #{hits} stick"),
    ]
    if scene.reference:
        lines += [f"style #{hits - 1} stick", f"color #{hits - 1} khaki", "color byhetero"]
    if scene.records > 1:
        lines.append(f"hide #{hits}.2-{scene.records} models")
    if scene.networks:
        lines += [
            f'open "{scene.networks}"',
            f"style #{hits + 1} stick",
            f"hide #{hits + 1} models",
        ]
    lines += [f"hbonds #{hits} restrict {proteins}", f"view #{hits}"]
    return "\n".join(lines) + "\n"
