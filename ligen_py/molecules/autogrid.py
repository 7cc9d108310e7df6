"""AutoGrid's maps, read and written: NAME.maps.fld, and one NAME.TYPE.map for each atom type.

Energies stand in kcal/mol, a number a line, x fastest. Map `e` is the energy of a unit charge, map
`d` what a unit of absolute charge adds to desolvation.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ligen_py.errors import InputError
from ligen_py.molecules.pdbqt_input import SODIUM

CHARGE, SOLVATION = "e", "d"
"""Names of the maps that are no atom type's."""

HEADER = 6
"""Lines of a map before its numbers."""

LONGEST = 40
"""Characters of a word that a message quotes."""

NEAR = 1e-3
"""Angstrom; spacings and centres are equal up to this."""


@dataclass(frozen=True)
class Autogrid:
    """Maps over one box."""

    receptor: str
    """Name of its file."""
    center: np.ndarray
    """Of the box, Angstrom."""
    spacing: float
    shape: tuple[int, int, int]
    """Points along x, y, z."""
    values: dict[str, np.ndarray]
    """Atom type as the files spell it, `e` or `d` -> energies float32 (x, y, z)."""

    @property
    def origin(self) -> np.ndarray:
        """The first point, Angstrom."""
        return self.center - self.spacing * (np.array(self.shape) - 1) / 2


def folded(name: str) -> str:
    """A map's name in capitals, as files spell types in many ways; but sodium's is no nitrogen's.

    >>> folded("Cl"), folded("na"), folded("Na"), folded("e")
    ('CL', 'NA', 'Na', 'E')
    """
    return name if name == SODIUM else name.upper()


def read_field(path: Path) -> tuple[dict[str, list[str]], dict[str, Path]]:
    """What a .fld file says: words behind each name, and the map of each type.

    Its labels say of which type the map of each variable is, whatever the map's file is called.
    InputError where it is none of AutoGrid's.
    """
    words = {}
    labels: list[str] = []
    variables: dict[int, str] = {}
    # Names of files may be in any encoding; as paths they are found.
    lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    for number, line in enumerate(lines, start=1):
        # A blank behind # makes a comment of it, also where a word of the header follows.
        if re.match(r"#\S", line) and len(line.split()) > 1:
            words[line[1:].split()[0]] = line[1:].split()[1:]
        elif label := re.match(r"label *= *([^\s#]+)", line):
            labels.append(_type_of(label[1]))
        elif line.startswith("variable"):
            # A name may have spaces: it ends where the next word with a value starts.
            named = re.match(r"variable +(\d+)\b.*?\bfile *= *(.+?)(?=\s+\w+=|\s*$)", line)
            if named is None:
                raise InputError(
                    f"{path}, line {number}: '{line}' names no variable with its file; run "
                    "AutoGrid again"
                )
            variables[int(named[1])] = named[2]
    if "SPACING" not in words or not variables:
        raise InputError(f"{path}: no field file of AutoGrid; give NAME.maps.fld")
    if sorted(variables) != list(range(1, len(labels) + 1)):
        raise InputError(
            f"{path}: its {len(labels)} lines 'label=' do not belong to variables "
            f"{', '.join(map(str, sorted(variables)))}; give each variable its label, or run "
            "AutoGrid again"
        )
    kinds = [folded(name) for name in labels]
    for name, kind in zip(labels, kinds, strict=True):
        if kinds.count(kind) > 1:
            raise InputError(f"{path}: two variables have the label of {name}; remove one of them")
    files = {name: path.parent / variables[n] for n, name in enumerate(labels, start=1)}
    return words, files


def require(path: Path, files: Mapping[str, Path], types: Sequence[str]) -> None:
    """InputError where the maps of a .fld file lack `e`, `d` or one of some types."""
    there = set(map(folded, files))
    for name in (CHARGE, SOLVATION, *types):
        if folded(name) not in there:
            raise InputError(
                f"{path}: no map for atom type {name}; there are: {', '.join(sorted(files))}; run "
                "AutoGrid with this type, too"
            )


def read_maps(path: Path, types: Sequence[str] | None = None) -> Autogrid:
    """The maps that a .fld file names; of some types alone, and `e` and `d`.

    InputError that names the file and line where they cannot be used.
    """
    words, files = read_field(path)
    spacing, center, shape = _box(path, words)
    wanted = None if types is None else set(map(folded, (*types, CHARGE, SOLVATION)))
    require(path, files, types or ())
    values = {
        name: _read_map(file, path, spacing, center, shape)
        for name, file in files.items()
        if wanted is None or folded(name) in wanted
    }
    receptor = " ".join(words.get("MACROMOLECULE", [])).encode(errors="replace").decode()
    return Autogrid(receptor, center, spacing, shape, values)


def _type_of(label: str) -> str:
    """The name of the map that a label is of.

    >>> _type_of("OA-affinity"), _type_of("Electrostatics"), _type_of("Desolvation")
    ('OA', 'e', 'd')
    """
    common = {"electrostatics": CHARGE, "desolvation": SOLVATION}
    return common.get(label.lower(), label.removesuffix("-affinity"))


def _box(where: object, words: Mapping[str, Sequence[str]]) -> tuple[float, np.ndarray, tuple]:
    try:
        spacing = float(words["SPACING"][0])
        shape = tuple(int(word) // 2 * 2 + 1 for word in words["NELEMENTS"][:3])
        center = np.array([float(word) for word in words["CENTER"][:3]])
    except (KeyError, ValueError, IndexError):
        raise InputError(
            f"{where}: SPACING, NELEMENTS or CENTER is missing; run AutoGrid again"
        ) from None
    sound = 0 < spacing < 10 and len(shape) == len(center) == 3 and min(shape) > 1
    if not sound or not np.isfinite(center).all():
        raise InputError(f"{where}: SPACING, NELEMENTS or CENTER makes no box; run AutoGrid again")
    return spacing, center, shape


def _read_map(
    path: Path, field: Path, spacing: float, center: np.ndarray, shape: tuple[int, int, int]
) -> np.ndarray:
    packed = path.with_name(f"{path.name}.gz")
    if not path.exists() and packed.is_file():
        raise InputError(f"{packed}: is compressed; unpack the maps that {field.name} names")
    if path.is_dir():
        raise InputError(
            f"{path}: is a folder, but {field.name} names it as a map; correct it there"
        )
    if not path.is_file():
        raise InputError(f"{path}: does not exist, but {field.name} names it; run AutoGrid again")
    # The receptor's name may be in any encoding.
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    words = {line.split()[0]: line.split()[1:] for line in lines[:HEADER] if line.split()}
    own_spacing, own_center, own_shape = _box(path, words)
    if abs(own_spacing - spacing) > NEAR:
        raise InputError(
            f"{path}: its spacing is {own_spacing:g} A, that of {field.name} {spacing:g} A; make "
            "all maps in one run of AutoGrid"
        )
    if own_shape != shape or np.abs(own_center - center).max() > NEAR:
        raise InputError(
            f"{path}: its box is another one than that of {field.name}; make all maps in one run "
            "of AutoGrid"
        )
    rows = {n: line.strip() for n, line in enumerate(lines, start=1) if line.strip() and n > HEADER}
    try:
        with np.errstate(over="ignore"):  # infinities are named below
            values = np.array([*rows.values()], np.float32)
        sound = np.isfinite(values).all() and not any("_" in word for word in rows.values())
    except ValueError:
        sound = False
    if not sound:
        number, word = next((n, word) for n, word in rows.items() if not _is_number(word))
        fault = f"'{word[:LONGEST]}' is no finite number"
        if (count := len(word.split())) > 1:
            fault = f"{count} words, but AutoGrid writes one number a line"
        raise InputError(f"{path}, line {number}: {fault}; run AutoGrid again")
    if len(values) != np.prod(shape):
        raise InputError(
            f"{path}: {len(values)} numbers, but the box has {np.prod(shape)} points; run "
            "AutoGrid again"
        )
    return np.ascontiguousarray(values.reshape(shape[::-1]).T)


def _is_number(word: str) -> bool:
    """Whether a word is a finite number, without the underscores that Python takes."""
    try:
        with np.errstate(over="ignore"):
            return bool(np.isfinite(np.array(word, np.float32))) and "_" not in word
    except ValueError:
        return False


def map_files(name: str, maps: Autogrid) -> dict[str, str]:
    """Maps as the texts of AutoGrid's files: file name -> text."""
    field, xyz = f"{name}.maps.fld", f"{name}.maps.xyz"
    elements = " ".join(str(points - 1) for points in maps.shape)
    center = " ".join(f"{value:.3f}" for value in maps.center)
    named = [key for key in maps.values if key not in (CHARGE, SOLVATION)]
    labels = [*(f"{key}-affinity" for key in named), "Electrostatics", "Desolvation"]
    head = [
        f"GRID_PARAMETER_FILE {name}.gpf", f"GRID_DATA_FILE {field}",
        f"MACROMOLECULE {maps.receptor}", f"SPACING {maps.spacing:g}",
        f"NELEMENTS {elements}", f"CENTER {center}",
    ]  # fmt: skip
    lines = [
        "# AVS field file", "#", "# AutoDock Atomic Affinity and Electrostatic Grids", "#",
        "# Created by ligen_py.", "#", f"#SPACING {maps.spacing:g}", f"#NELEMENTS {elements}",
        f"#CENTER {center}", f"#MACROMOLECULE {maps.receptor}",
        f"#GRID_PARAMETER_FILE {name}.gpf", "#", "ndim=3\t\t\t# number of dimensions in the field",
        *(f"dim{n}={points}\t\t\t# number of {axis}-elements"
          for n, (axis, points) in enumerate(zip("xyz", maps.shape, strict=True), start=1)),
        "nspace=3\t\t# number of physical coordinates per point",
        f"veclen={len(labels)}\t\t# number of affinity values at each point",
        "data=float\t\t# data type (byte, integer, float, double)",
        "field=uniform\t\t# field type (uniform, rectilinear, irregular)",
        *(f"coord {n} file={xyz} filetype=ascii offset={2 * n - 2}" for n in (1, 2, 3)),
        *(f"label={label}\t# component label for variable {n}"
          for n, label in enumerate(labels, start=1)),
        "#", "# location of affinity grid files and how to read them", "#",
        *(f"variable {n} file={name}.{key}.map filetype=ascii skip={HEADER}"
          for n, key in enumerate([*named, CHARGE, SOLVATION], start=1)),
    ]  # fmt: skip
    last = maps.origin + maps.spacing * (np.array(maps.shape) - 1)
    ends = [f"{low:.3f} {high:.3f}" for low, high in zip(maps.origin, last, strict=True)]
    texts = {field: "\n".join(lines) + "\n", xyz: "\n".join(ends) + "\n"}
    for key in [*named, CHARGE, SOLVATION]:
        numbers = np.char.mod("%.3f", maps.values[key].T.ravel().astype(float))
        texts[f"{name}.{key}.map"] = "\n".join([*head, *numbers.tolist()]) + "\n"
    return texts
