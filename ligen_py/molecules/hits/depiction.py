"""A molecule drawn in two dimensions, as a short SVG that takes the colours of its page."""

import importlib
import re
from collections.abc import Iterator
from types import ModuleType

from rdkit import Chem
from rdkit.Chem import rdDepictor

from ligen_py.errors import UsageError

WIDTH, HEIGHT = 220, 150
"""Size of a drawing in its own units."""

CLASSES = {"#0000FF": "N", "#FF0000": "O", "#CCCC00": "S", "#33CCCC": "F", "#00CC00": "Cl",
           "#7F4C19": "Br", "#A01EEF": "I", "#FF7F00": "P"}  # fmt: skip
"""RDKit's colours of elements -> class names, whose colours a page chooses; black has none."""

PATH = re.compile(r"<path [^>]*?d='([^']*)' style='fill:([^;]*);[^']*?stroke:([^;']*)")
TEXT = re.compile(r"<text x='([^']*)' y='([^']*)'[^>]*?style='([^']*)'[^>]*>(.*?)</text>", re.S)
NUMBER = re.compile(r"-?\d+\.?\d*")


def drawer() -> ModuleType:
    """RDKit's module that draws.

    Its wheels load a library of the system that small images of Linux lack. Raises UsageError
    where it is missing.
    """
    try:
        return importlib.import_module("rdkit.Chem.Draw.rdMolDraw2D")
    except ImportError as error:
        raise UsageError(
            f"RDKit cannot draw molecules for the report here: {error}; install that library "
            "(Debian and Ubuntu: apt-get install libxrender1; Red Hat and Fedora: dnf install "
            "libXrender), or take RDKit from conda-forge"
        ) from error


def drawing(mol: Chem.Mol) -> str:
    """The inside of an <svg> of WIDTH x HEIGHT: one path a colour, and letters."""
    flat = Chem.RemoveHs(mol)
    flat.RemoveAllConformers()
    rdDepictor.SetPreferCoordGen(False)
    rdDepictor.Compute2DCoords(flat)
    rdDepictor.StraightenDepiction(flat)
    draw = drawer()
    canvas = draw.MolDraw2DSVG(WIDTH, HEIGHT, -1, -1, True)
    options = canvas.drawOptions()
    options.padding = 0.04
    options.fixedBondLength = 24
    options.minFontSize = options.maxFontSize = 11
    canvas.DrawMolecule(draw.PrepareMolForDrawing(flat))
    canvas.FinishDrawing()
    return "".join(_short(canvas.GetDrawingText()))


def _short(svg: str) -> Iterator[str]:
    """Paths of one colour joined, with one decimal; class `s` is small, `f` filled."""
    paths: dict[tuple[str, bool], list[str]] = {}
    for path, fill, stroke in PATH.findall(svg):
        if fill == "none" and path.count("L") == 2:  # rounds a corner, too fine to be seen
            continue
        filled = fill != "none"
        colour = (fill if filled else stroke).upper()
        paths.setdefault((CLASSES.get(colour, ""), filled), []).append(_rounded(path))
    for (name, filled), parts in paths.items():
        kind = " ".join(word for word in (name, "f" if filled else "") if word)
        yield f'<path{_class(kind)} d="{"".join(parts)}"/>'
    for x, y, style, letters in TEXT.findall(svg):
        colour = re.search(r"fill:(#\w{6})", style)
        small = " s" if "font-size:7" in style else ""
        name = (CLASSES.get(colour[1].upper(), "") if colour else "") + small
        plain = re.sub(r"<[^>]*>", "", letters).strip()
        if plain:
            place = f'x="{float(x):.1f}" y="{float(y):.1f}"'
            yield f"<text{_class(name.strip())} {place}>{plain}</text>"


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _rounded(path: str) -> str:
    short = NUMBER.sub(lambda match: f"{float(match[0]):.1f}".removesuffix(".0"), path)
    return re.sub(r"\s*([MLZQC])\s*", r"\1", short).replace(" L", "L")
