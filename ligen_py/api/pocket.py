"""A receptor prepared around a site."""

import math
import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py.api.ligands import plain_name, require_name
from ligen_py.campaign.names import CONTROL, LONGEST_NAME
from ligen_py.chain import STAGES
from ligen_py.errors import InputError, close_to
from ligen_py.molecules.given import Molecule, NoMoleculeError, given, is_molecule, write_library
from ligen_py.molecules.receptor.cofactors import smiles_of
from ligen_py.molecules.receptor.opening import open_structure
from ligen_py.molecules.receptor.reference import ligand_pdb
from ligen_py.molecules.receptor.site import read_heavy_atoms
from ligen_py.molecules.receptor.structure import LIGAND_FILES
from ligen_py.records.limits import NAME
from ligen_py.records.pocket import POCKET, Audit, Receptor
from ligen_py.settings.check import check
from ligen_py.settings.pocket import PocketSettings, Site, Structure
from ligen_py.store.files.read import read
from ligen_py.store.files.text import write_texts
from ligen_py.target_files import receptor_of

MARGIN = 4.0
"""Angstrom from a ligand to the walls of the box that `autobox` makes."""

SMALLEST, LARGEST = 4.0, 30.0
"""Half sides of a box, Angstrom."""


class Pocket:
    """A receptor prepared around a site. Make one with `Pocket.from_pdb`."""

    def __init__(
        self,
        name: str,
        receptor: Path,
        structure: Structure,
        site: Site,
        settings: PocketSettings,
    ) -> None:
        """Prepare the receptor; the files are copied, so that they may change afterwards."""
        self.name = name
        """Name of the target in all results."""
        folder = Path(tempfile.mkdtemp(prefix="ligen-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.file = folder / "pocket.h5"
        """The pocket file, as `ligen stage pocket` writes it; deleted with this object."""
        inputs = {"receptor": receptor, "structure": structure, "site": site}
        STAGES["pocket"].run(inputs, settings, None, self.file)
        self._structure = structure.model_copy(update={"cofactors": smiles_of(structure)})
        self._settings = settings
        self._receptor = Path(shutil.copyfile(receptor, folder / receptor.name))
        self._reference: Path | None = None
        if site.ligand is not None:
            copies = folder / "reference"
            copies.mkdir()
            self._reference = copies / Path(site.ligand).name
            shutil.copyfile(site.ligand, self._reference)
            site = site.model_copy(update={"ligand": str(self._reference)})
        if site.ligand_name is not None:
            self._reference = folder / "reference.pdb"
            text = ligand_pdb(open_structure(receptor, structure), site.ligand_name)
            self._reference.write_text(text, encoding="utf-8")
        self._site = site

    @classmethod
    def from_pdb(
        cls,
        receptor: str | Path,
        *,
        site: str | Path | Molecule | None = None,
        center: Sequence[float] | None = None,
        autobox: str | Path | Molecule | None = None,
        residues: str | Sequence[str] = (),
        cavity: int | None = None,
        size: float | Sequence[float] | None = None,
        radius: float | None = None,
        margin: float | None = None,
        name: str | None = None,
        **settings: Any,
    ) -> "Pocket":
        """Prepare a receptor around a site, which is given in one of five ways.

        Args:
            receptor: structure file: PDB, mmCIF or PDBQT, plain or .gz.
            site: reference ligand: a file (SDF, MOL, MOL2, PDB or PDBQT), an RDKit molecule with
                coordinates, or the name of a ligand in the structure, such as "STI" or "A/STI/201".
                It is taken out of the receptor. The box is a cube around its centroid.
            center: centre of the box, Angstrom.
            autobox: reference ligand as in `site`, but not by name; the box is as large as it
                needs, with `margin` on all sides.
            residues: residues that line the site, such as "A/ASP/32" or "A/32".
            cavity: rank of a cavity that is searched in the receptor; 1 is the best.
            size: side of the box, or three of them, Angstrom; the cube that contains it is used.
            radius: half the side of the box, Angstrom; the default is 10.
            margin: Angstrom around the ligand of `autobox`; the default is 4.
            name: name of the target, of letters, digits, _ . and -; by default from the name of
                the file.
            settings: keys of a target (`chains`, `model`, `assembly`, `keep`, `drop`) and of the
                section `pocket` (`waters`, `protonation`, `ph`, ...; not its `margin`), as in
                config/README.md.

        Raises:
            InputError: a file cannot be read, a keyword has a value that it cannot have, or the
                site is not where the receptor is.
        """
        if not isinstance(receptor, str | Path):
            raise InputError(f"receptor: give a structure file, not {receptor!r}")
        for what, file in (("receptor", receptor), ("site", site), ("autobox", autobox)):
            if isinstance(file, str | Path):
                require_name(what, file)
        ways = {
            "site": site, "center": center, "autobox": autobox, "residues": residues or None,
            "cavity": cavity,
        }  # fmt: skip
        chosen = [way for way, value in ways.items() if value is not None]
        if len(chosen) != 1:
            many = f", not {' and '.join(chosen)}" if chosen else ""
            raise InputError(f"say where to dock: give one of {', '.join(ways)}{many}")
        if autobox is None and margin is not None:
            raise InputError("margin: is around the ligand of autobox, which is not given")
        if autobox is not None and (size is not None or radius is not None):
            raise InputError("autobox makes its own box; give margin, not size or radius")
        named = plain_name(Path(receptor)) if name is None else _name(name)
        structure, pocket = _receptor_settings(settings)
        keys: dict[str, Any] = {
            "center": None if center is None else _numbers("center", center),
            "residues": (residues,) if isinstance(residues, str) else tuple(residues),
            "cavity": cavity,
            "size": _sides(size),
            "radius": radius,
        }
        with tempfile.TemporaryDirectory(prefix="ligen-") as folder:
            if autobox is not None:
                file = _reference(autobox, Path(folder), "autobox")
                keys |= {
                    "ligand": str(file),
                    "radius": _half_side(
                        file,
                        MARGIN if margin is None else margin,
                        "autobox" if is_molecule(autobox) else str(file),
                    ),
                }
            elif site is not None:
                keys |= _site_keys(site, Path(folder))
            place = check(Site, keys, "site")
            try:
                return cls(named, Path(receptor), structure, place, pocket)
            except InputError as error:
                if place.ligand_name is None or place.ligand_name not in str(error):
                    raise
                raise InputError(f"{error}; there is no file {site}, either") from error

    @property
    def reference(self) -> Path | None:
        """File of the reference ligand, where the site has one; PDB of one in the structure."""
        return self._reference

    @property
    def audit(self) -> list[str]:
        """What was kept, dropped, added and chosen, a line each: part, action, atoms, reason."""
        found: Audit = read(self.file, POCKET, Audit)
        rows = zip(found.part, found.action, found.atoms.astype(str), found.reason, strict=True)
        return ["\t".join(map(str, row)) for row in rows]

    def to_pdb(self, path: str | Path) -> None:
        """Write the receptor as it was prepared, with the polar hydrogens near the site."""
        target = Path(path)
        write_texts(target.parent, {target.name: receptor_of(self.file)})

    def target(self, folder: Path) -> dict[str, Any]:
        """The pocket as a target of a campaign's config, whose files are copied into `folder`."""
        for name in ("receptor", "site"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        site = self._site.model_dump(mode="json", exclude_defaults=True)
        for key in ("ligand", "cavities"):
            if key in site:
                source = Path(site[key])
                site[key] = str(shutil.copyfile(source, folder / "site" / source.name))
        structure = self._structure.model_dump(mode="json", exclude_defaults=True)
        receptor = shutil.copyfile(self._receptor, folder / "receptor" / self._receptor.name)
        return {"receptor": str(receptor), "site": site, **structure}

    @property
    def settings(self) -> dict[str, Any]:
        """The section `pocket` of a campaign's config."""
        return self._settings.model_dump(mode="json")

    def __repr__(self) -> str:
        atoms = len(read(self.file, POCKET, Receptor).xyz)
        return f"<Pocket {self.name}: {atoms} receptor atoms near the site>"


def _name(given: str) -> str:
    """A target's name; InputError where a campaign could not have it."""
    most = LONGEST_NAME - len(CONTROL)
    if not (isinstance(given, str) and re.fullmatch(NAME, given) and len(given) <= most):
        raise InputError(
            f"name: give letters, digits, _ . and -, {most} at most, of which the first is no "
            f"sign, not {given!r}"
        )
    return given


def _receptor_settings(given: Mapping[str, Any]) -> tuple[Structure, PocketSettings]:
    structure, pocket = Structure.model_fields, PocketSettings.model_fields
    for name in given:
        if name not in structure and name not in pocket:
            near = close_to(name, [*structure, *pocket])
            raise InputError(f"Pocket.from_pdb: unknown setting '{name}'{near}")
    listed = {
        key: (value,) if isinstance(value, str) and key in ("chains", "keep", "drop") else value
        for key, value in given.items()
    }
    where = "Pocket.from_pdb"
    return (
        check(Structure, {k: v for k, v in listed.items() if k in structure}, where),
        check(PocketSettings, {k: v for k, v in listed.items() if k in pocket}, where),
    )


def _sides(size: float | Sequence[float] | None) -> tuple[float, ...] | None:
    if size is None:
        return None
    # NumPy's numbers are numbers, too.
    return (float(size),) * 3 if isinstance(size, Real) else _numbers("size", size)


def _numbers(key: str, given: Any) -> tuple[float, ...]:
    try:
        return tuple(map(float, given))
    except (TypeError, ValueError) as error:
        raise InputError(f"{key}: give three numbers, not {given!r}") from error


def _site_keys(site: str | Path | Molecule, folder: Path) -> dict[str, Any]:
    """A reference ligand by its file, or by its name in the structure."""
    if isinstance(site, str) and not Path(site).exists():
        is_name = re.fullmatch(r"[^/\s]+(/[^/\s]+){0,2}", site)
        if is_name and not site.lower().removesuffix(".gz").endswith(LIGAND_FILES):
            return {"ligand_name": site}
    return {"ligand": str(_reference(site, folder, "site"))}


def _reference(ligand: str | Path | Molecule, folder: Path, what: str) -> Path:
    """A reference ligand's file; a molecule is written as SDF into `folder`."""
    if isinstance(ligand, Path) or (isinstance(ligand, str) and ligand.strip()):
        return Path(ligand)
    if not is_molecule(ligand):
        cure = "give a reference ligand, as a file or an RDKit molecule"
        raise InputError(f"{what}: {cure}, not {ligand!r}")
    try:
        one = given(ligand)
    except NoMoleculeError as error:
        raise InputError(f"{what}: {error}") from error
    if not one.is_block:
        raise InputError(f"{what}: the molecule has no 3-D coordinates")
    return write_library([one], folder / "reference")[0]


def _half_side(ligand: Path, margin: float, name: str) -> float:
    """Half the side of the cube around a ligand's centroid that contains it with a margin.

    Errors call the ligand by its `name`.
    """
    if not (isinstance(margin, Real) and 0 <= margin < math.inf):
        raise InputError(
            f"margin: give 0 or more, not {margin!r}: a finite length in Angstrom; with less than "
            "0 the ligand would leave its box"
        )
    xyz = read_heavy_atoms(ligand)
    half = float(np.abs(xyz - xyz.mean(axis=0)).max()) + margin
    if half > LARGEST:
        raise InputError(
            f"{name}: the box around it would have sides of {2 * half:.0f} A, at most "
            f"{2 * LARGEST:g}; give a smaller margin, or a centre and a size"
        )
    return max(round(half, 2), SMALLEST)
