"""Molecules that are given one by one, as SMILES or RDKit molecules, made into library files."""

import csv
import io
import re
from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rdkit import Chem, rdBase

from ligen_py.molecules.export import CONTROL, one_line, sdf_text
from ligen_py.molecules.library.record import smiles_record, split_smiles
from ligen_py.molecules.ligands.standardising import smiles_with_groups
from ligen_py.records.ledger import Reason

Molecule = Chem.Mol
"""An RDKit molecule."""


class Given(NamedTuple):
    """A molecule as a line of a table, or as an SDF record where it has 3-D coordinates."""

    name: str
    text: str
    """SMILES, or the record."""
    is_block: bool = False
    items: dict[str, str] = {}  # noqa: RUF012 (never changed)
    """Its properties, by name."""


class NoMoleculeError(ValueError):
    """What is given is no molecule; the message says why."""


def is_molecule(value: Any) -> bool:
    """Whether a value is an RDKit molecule."""
    return isinstance(value, Chem.Mol)


def has_lines(text: str) -> bool:
    """Whether a text has several lines, as a mol block has, or SMILES from a file."""
    return bool(re.search(r"[\r\n]", text.strip()))


def is_smiles(text: str) -> bool:
    """Whether RDKit reads a text as one SMILES, with or without a name behind it."""
    if has_lines(text):
        return False
    with rdBase.BlockLogs():
        record = smiles_record(1, "", split_smiles(text)[0], "")
        return record.reason == Reason.NONE and Chem.MolFromSmiles(record.text) is not None


def given(value: Any) -> Given:
    """A SMILES, with a name behind it or not, or an RDKit molecule.

    A molecule without a name is named by its SMILES. Raises NoMoleculeError where there is none,
    and TypeError for a value of another kind.
    """
    if _is_missing(value):
        raise NoMoleculeError(f"no molecule ({value})")
    if isinstance(value, str):
        return _of_text(value)
    if not is_molecule(value):
        raise TypeError(f"give a SMILES, a file or an RDKit molecule, not {type(value).__name__}")
    if not value.GetNumAtoms():
        raise NoMoleculeError("a molecule without atoms")
    try:
        return _of_molecule(value)
    except NoMoleculeError:
        raise
    except (RuntimeError, ValueError) as error:
        raise NoMoleculeError(f"RDKit cannot write it: {one_line(str(error))}") from error


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or what pandas has in place of a missing one."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")  # whose comparisons are no truth values
        or (isinstance(value, Real) and value != value)
    )


def _of_text(text: str) -> Given:
    text = text.strip(f"{CONTROL} ")
    if has_lines(text):
        raise NoMoleculeError("a text of several lines; give a list of SMILES, or a file")
    # As a blank it would end the SMILES, and what is left of it would be another molecule.
    if found := set(CONTROL).difference("\t").intersection(text):
        raise NoMoleculeError(f"a control character, {min(found)!a}, in the text; remove it")
    smiles, name = split_smiles(one_line(text))
    record = smiles_record(1, "", f"{smiles} {name}" if name.startswith("|") else smiles, "")
    if record.reason != Reason.NONE:
        raise NoMoleculeError(record.text)
    return Given(name or smiles, smiles)


def _of_molecule(mol: Chem.Mol) -> Given:
    # As they are: RDKit would make numbers of texts, and 123 of the catalogue's 00123.
    given = mol.GetPropsAsDict(autoConvertStrings=False)
    items = {key: one_line(str(value)) for key, value in given.items()}
    smiles = Chem.MolToSmiles(Chem.RemoveHs(mol, sanitize=False))
    name = one_line(mol.GetProp("_Name")).strip() if mol.HasProp("_Name") else ""
    placed = [one for one in mol.GetConformers() if one.Is3D() and one.GetPositions()[:, 2].any()]
    if not placed:
        return Given(name or smiles, _with_groups(mol, smiles), items=items)
    if not np.isfinite(placed[0].GetPositions()).all():
        raise NoMoleculeError("coordinates that are no numbers; make them anew, or remove them")
    # Without properties: RDKit writes some into the head of a block as they are.
    shown = Chem.Mol(mol.ToBinary(int(Chem.PropertyPickleOptions.NoProps)))
    for other in [one.GetId() for one in mol.GetConformers() if one.GetId() != placed[0].GetId()]:
        shown.RemoveConformer(other)
    text = sdf_text(shown, name or smiles, items)
    return Given(name or smiles, text, True, items)


def _with_groups(mol: Chem.Mol, smiles: str) -> str:
    """The SMILES, with the groups of centres that say that a molecule is a racemate."""
    return smiles_with_groups(mol) if mol.GetStereoGroups() else smiles


def write_library(molecules: Sequence[Given], stem: Path) -> tuple[Path, list[int]]:
    """Write molecules of one kind as CSV or SDF; gives the file and the line of each record.

    The first two columns of a CSV are SMILES and name, under names that no property has.
    """
    if molecules[0].is_block:
        path, lines, line = stem.with_suffix(".sdf"), [], 1
        for one in molecules:
            lines.append(line)
            line += one.text.count("\n")
        path.write_text("".join(one.text for one in molecules), encoding="utf-8")
        return path, lines
    path = stem.with_suffix(".csv")
    names = list(dict.fromkeys(name for one in molecules for name in one.items))
    own = ["smiles", "name"]
    while clash := set(own).intersection(map(one_line, names)):
        own = [f"{name}_" if name in clash else name for name in own]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*own, *map(one_line, names)])
    for one in molecules:
        writer.writerow([one.text, one.name, *(one.items.get(name, "") for name in names)])
    path.write_text(stream.getvalue(), encoding="utf-8")
    return path, list(range(2, len(molecules) + 2))
