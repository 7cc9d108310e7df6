"""Hydrogens of amino acids at a pH by PDB2PQR with PROPKA.

T. J. Dolinsky et al., Nucleic Acids Res. 35 (2007) W522-W525; M. H. M. Olsson et al., J. Chem.
Theory Comput. 7 (2011) 525-537. Both see the kept amino acids alone: metals, cofactors and waters
stay as they are. No side chain moves but for amides, imidazoles and acids that PDB2PQR turns by
half, and these not beside a hetero group or the reference ligand, which it did not see. A residue
that binds a metal is left alone.
"""

import os
import string
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import gemmi
import numpy as np

from ligen_py.errors import InputError
from ligen_py.molecules.elements import METALS
from ligen_py.molecules.receptor.selection import (
    CROSSLINKS,
    POLYMER_LINKS,
    Selection,
    in_sequence,
    linked,
)
from ligen_py.molecules.receptor.structure import Place
from ligen_py.molecules.residues import BACKBONE, SAME_AS
from ligen_py.molecules.typing.xscore_residues import is_standard

LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits

RING = ("CB", "CG", "CD")
"""Of proline, beside its backbone."""

ACID_HYDROGENS = {"ASP": ("HD1", "HD2"), "GLU": ("HE1", "HE2")}
"""Names of the hydrogen of a protonated acid."""

RING_OF_HISTIDINE = frozenset(("N", "CG", "ND1", "CD2", "CE1", "NE2"))
"""With its backbone's nitrogen."""

BINDS = 2.8
"""Angstrom; a residue with nitrogen, oxygen or sulfur this near to a metal binds it."""

BOUND = 2.2
"""Angstrom; a residue this near to a hetero group has a bond to it."""

AMIDE, AT_NITROGEN = 1.01, 1.3
"""Angstrom; from an amide's nitrogen to its hydrogen, and how far hydrogens are its own."""

BESIDE = 4.0
"""Angstrom; a residue this near to a hetero group may be held by it."""

MOVED = 0.1
"""Angstrom; PDB2PQR turned the side chain of a residue with an atom that it moved farther."""


class Protonated(NamedTuple):
    """Hydrogens in the place of the file's."""

    xyz: np.ndarray = np.empty((0, 3))
    """Positions (hydrogens, 3), Angstrom."""
    residues: frozenset[int] = frozenset()
    """Numbers of the residues that have them."""


def protonate(
    selection: Selection,
    distance: Callable[[np.ndarray], np.ndarray],
    margin: float,
    ph: float,
    ligand: np.ndarray,
) -> Protonated:
    """Hydrogens of whole chains near a box; turns side chains in place.

    `distance` gives that of positions from the box; chains within `margin` of it take part. No side
    chain beside the reference `ligand` (atoms, 3), which may have no atoms, is turned. Notes
    in the selection's audit what was done. Raises InputError where PDB2PQR fails.
    """
    standard = np.array([is_standard(place.residue) for place in selection.places])
    standard &= selection.polymer & ~selection.water
    mine = selection.open & selection.heavy & standard[selection.residue]
    places = selection.atoms.place
    within = mine & (distance(selection.xyz) <= margin)
    chains = sorted({places[i].chain for i in np.flatnonzero(within)})
    if len(chains) > len(LETTERS):
        raise InputError(
            f"{selection.source}: {len(chains)} chains are within reach of the box, too many for "
            "PDB2PQR; keep fewer chains, or take 'given' as the protonation"
        )
    letter = dict(zip(chains, LETTERS, strict=False))
    begun: set[str] = set()
    order = in_sequence(selection, mine)
    for number, some in order:
        # It gives up the whole structure for one of these, as at a chain's end.
        place, names = selection.places[number], set(selection.atoms.name[some])
        missing = "" if names >= BACKBONE.keys() - {"O"} else "backbone"  # it adds the oxygen
        if place.residue == "PRO" and place.chain not in begun and not names.issuperset(RING):
            missing = missing or "ring, with which a chain begins"
        if not missing:
            begun.add(place.chain)
            continue
        mine[some] = False
        if within[some].any():
            selection.note(str(place), f"lacks atoms of its {missing}: PDB2PQR did not see it")
    index = np.array(
        [i for _, some in order for i in some[mine[some]] if places[i].chain in letter], np.int64
    )
    if not len(index):
        return Protonated()
    seqid = _seqids([places[i] for i in index.tolist()])
    answer = _run_pdb2pqr(_pdb(selection, index, letter, seqid), ph, selection.source)
    selection.note(
        "hydrogens",
        f"by PDB2PQR with PROPKA at pH {ph:g}, from the amino acids alone; metals, cofactors and "
        "waters were not seen by it and stay",
        "chosen",
    )
    return _take(selection, index, letter, seqid, answer, ligand)


def _seqids(places: Sequence[Place]) -> dict[Place, int]:
    """Numbers of residues in this order, counted by chain.

    PDB2PQR takes a residue for bound to the one before it in the file, whatever their numbers are.
    """
    count: Counter[str] = Counter()
    found = {}
    for place in dict.fromkeys(places):
        count[place.chain] += 1
        found[place] = count[place.chain]
    return found


def _pdb(
    selection: Selection,
    index: np.ndarray,
    letter: dict[str, str],
    seqid: dict[Place, int],
) -> str:
    """Amino acids as PDB records, with one letter a chain; coordinates keep three decimals."""
    lines = []
    for serial, i in enumerate(index.tolist(), start=1):
        place, name = selection.atoms.place[i], selection.atoms.name[i]
        # A name of a state would decide it, whatever PROPKA says.
        residue = SAME_AS.get(place.residue, place.residue)
        name, symbol = ("SD", "S") if name == "SE" else (name, selection.atoms.symbol[i])
        x, y, z = selection.xyz[i]
        lines.append(
            f"ATOM  {serial % 100000:5d} {f' {name}' if len(name) < 4 else name:<4} {residue:>3} "
            f"{letter[place.chain]}{seqid[place]:4d}    "
            f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00          {symbol:>2}"
        )
    return "\n".join([*lines, "END", ""])


def _run_pdb2pqr(text: str, ph: float, source: str) -> gemmi.Structure:
    flags = ["--ff=PARSE", "--titration-state-method=propka", f"--with-ph={ph}", "--keep-chain"]
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "in.pdb", Path(folder) / "out.pdb"
        given.write_text(text, encoding="ascii", errors="replace")
        command = [sys.executable, "-m", "pdb2pqr", *flags, "--nodebump", f"--pdb-output={result}"]
        done = subprocess.run(
            [*command, str(given), str(Path(folder) / "out.pqr")],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not result.is_file():
            said = [line for line in done.stderr.splitlines() if "ERROR" in line or "CRIT" in line]
            said = [line for line in said if "Giving up" not in line]
            why = " ".join((said or done.stderr.splitlines() or ["it said nothing"])[-1].split())
            raise InputError(
                f"{source}: PDB2PQR cannot protonate it ({why}); complete the structure, or take "
                "--protonation given"
            )
        return gemmi.read_pdb(str(result))


def _take(
    selection: Selection,
    index: np.ndarray,
    letter: dict[str, str],
    seqid: dict[Place, int],
    answer: gemmi.Structure,
    ligand: np.ndarray,
) -> Protonated:
    """The hydrogens of known residues; turned side chains take their new places."""
    chain_of = {one: [chain] for chain, one in letter.items()}
    place_of, name = selection.atoms.place, selection.atoms.name
    rows: dict[tuple[object, ...], int]
    rows = {(place_of[i].chain, seqid[place_of[i]], name[i]): i for i in index.tolist()}
    binding, tied, beside = _held(selection, index)
    beside_ligand = _near(selection, index, ligand, BESIDE)
    amides = _amides(selection, index)
    links = selection.pairs[linked(selection, selection.pairs, CROSSLINKS)]
    bridged = set(selection.residue[links.ravel()].tolist())
    hydrogens: list[list[float]] = []
    numbers: set[int] = set()
    for chain in answer[0]:
        for residue in chain:
            # PDB2PQR gives the parts of a chain that ends within, at an OXT, letters of their own.
            found = _same(selection, rows, chain_of.get(chain.name, list(letter)), residue)
            if not found:
                continue
            number = int(selection.residue[next(iter(found))])
            place = str(selection.places[number])
            turned = any(
                np.linalg.norm(selection.xyz[row] - np.array(position)) > MOVED
                for row, position in found.items()
            )
            own = [atom.pos.tolist() for atom in residue if atom.element.atomic_number == 1]
            if number in binding:
                selection.note(place, "binds a metal, which PDB2PQR did not see; left as it is")
                continue
            if number in tied:
                words = "bound to a hetero group, which PDB2PQR did not see; left as it is"
                selection.note(place, words)
                continue
            if number in bridged:
                words = "bound to another side chain, which PDB2PQR does not know; left as it is"
                selection.note(place, words)
                continue
            if turned and number in beside | beside_ligand:
                what = "a hetero group" if number in beside else "the reference ligand"
                words = f"beside {what}; PDB2PQR would turn it, and is not followed"
                state, own = _unturned(selection, found, residue)
                selection.note(place, f"{words}, but in its state {state}" if state else words)
                if not state:
                    continue
            elif turned:
                selection.xyz[list(found)] = list(found.values())
                selection.note(place, "side chain turned by half by PDB2PQR", "changed")
            if number in amides:
                nitrogen, hydrogen = amides[number]
                others = [xyz for xyz in own if np.linalg.norm(xyz - nitrogen) > AT_NITROGEN]
                own = others + ([] if residue.name == "PRO" else [hydrogen.tolist()])
            hydrogens += own
            numbers.add(number)
    return Protonated(np.array(hydrogens, np.float64).reshape(-1, 3), frozenset(numbers))


def _same(
    selection: Selection,
    rows: dict[tuple[object, ...], int],
    chains: Sequence[str],
    residue: gemmi.Residue,
) -> dict[int, list[float]]:
    """The residue of one of some chains that stands where this one does: new place of each atom."""
    for chain in chains:
        found = {
            row: atom.pos.tolist()
            for atom in residue
            if (row := rows.get((chain, residue.seqid.num, atom.name))) is not None
        }
        if any(np.allclose(selection.xyz[row], xyz, atol=MOVED) for row, xyz in found.items()):
            return found
    return {}


def _unturned(
    selection: Selection, found: dict[int, list[float]], residue: gemmi.Residue
) -> tuple[str, list[list[float]]]:
    """The state of a turned side chain with a hydrogen more, and its hydrogens without the turn.

    Of others the state is empty: which nitrogen of a neutral histidine has the hydrogen depends on
    the turn. `found` are the places of its atoms, by number.
    """
    hydrogens = {a.name: a.pos.tolist() for a in residue if a.element.atomic_number == 1}
    if any(name in hydrogens for name in ACID_HYDROGENS.get(residue.name, ())):
        # The two oxygens changed places, so the hydrogen is on the other one.
        return {"ASP": "ASH", "GLU": "GLH"}[residue.name], list(hydrogens.values())
    rows = {selection.atoms.name[row]: row for row in found}
    if not {"HD1", "HE2"}.issubset(hydrogens) or not RING_OF_HISTIDINE.issubset(rows):
        return "", []
    here, xyz = np.array(found[rows["N"]]), selection.xyz
    own = [place for place in hydrogens.values() if np.linalg.norm(place - here) < AT_NITROGEN]
    for nitrogen, one, two in (("ND1", "CG", "CE1"), ("NE2", "CE1", "CD2")):
        place = _outward(xyz[rows[nitrogen]], xyz[[rows[one], rows[two]]])
        own.append(place.tolist())
    return "HIP", own


def _outward(here: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The place of the hydrogen of a nitrogen with two bonds (2, 3)."""
    towards = near - here
    outward = -(towards / np.linalg.norm(towards, axis=1)[:, None]).sum(axis=0)
    place: np.ndarray = here + AMIDE * outward / np.linalg.norm(outward)
    return place


def _amides(selection: Selection, index: np.ndarray) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Residues, by number, behind a cap or a modified residue: their nitrogen and its hydrogen.

    PDB2PQR does not see what stands before them: it begins a chain with three hydrogens, or takes
    the bond for one to the residue before that.
    """
    seen = set(selection.residue[index].tolist())
    name, residue, xyz = selection.atoms.name, selection.residue, selection.xyz
    links = selection.pairs[linked(selection, selection.pairs, POLYMER_LINKS)]
    found = {}
    for one, two in [*links.tolist(), *links[:, ::-1].tolist()]:
        number = int(residue[one])
        if name[one] != "N" or number not in seen or int(residue[two]) in seen:
            continue
        near = [two, *(i for i in index[residue[index] == number] if name[i] == "CA")]
        if selection.open[two] and len(near) > 1:
            found[number] = xyz[one].copy(), _outward(xyz[one], xyz[near[:2]])
    return found


def _held(selection: Selection, index: np.ndarray) -> tuple[set[int], set[int], set[int]]:
    """Residues, by number, that bind a metal, that have a bond to a hetero group, or are beside.

    A copy of the reference ligand holds what is beside it, so that all sites of an assembly agree.
    """
    symbol = selection.atoms.symbol
    other = selection.open & selection.heavy & ~selection.water[selection.residue]
    other &= ~selection.polymer[selection.residue]
    metal = other & np.array([one in METALS for one in symbol], bool)
    polar = index[np.isin(symbol[index], ("N", "O", "S"))]
    return (
        _near(selection, polar, selection.xyz[metal], BINDS),
        _near(selection, index, selection.xyz[other & ~metal], BOUND),
        _near(selection, index, selection.xyz[other | selection.copies & selection.heavy], BESIDE),
    )


def _near(selection: Selection, index: np.ndarray, points: np.ndarray, reach: float) -> set[int]:
    """Residues, by number, of the atoms that are this near to one of some points."""
    if not len(points):
        return set()
    close = [i for i in index if np.linalg.norm(points - selection.xyz[i], axis=1).min() < reach]
    return set(selection.residue[close].tolist())
