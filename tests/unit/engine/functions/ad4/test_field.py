"""AutoDock4's atoms as refinement packs them, against the ligands' own numbering."""

from types import SimpleNamespace

import numpy as np
import pytest

from ligen_py.engine.functions.ad4 import constants as ad4
from ligen_py.engine.functions.ad4.field import Ad4Field
from ligen_py.engine.refinement import batched as refining
from ligen_py.engine.refinement.reference import Problem
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Type
from ligen_py.settings.refine import RefineSettings
from tests.stages.factory import Molecule, library_of

SMILES = (
    "NC(N)=[NH+]CCCC([NH3+])C(=O)[O-]", "OCC1OC(O)C(O)C(O)C1O", "CS(=O)(=O)NCc1ccccc1", "CCCCCC",
    "O", "C", "N", "COCCO", "CCS", "O=C(O)c1cc(O)ccc1NCCc1c[nH]cn1",
)  # fmt: skip
"""With many polar hydrogens and with none, with torsions and without, of one atom and of many."""


@pytest.fixture(scope="module")
def ligands() -> Ad4Ligands:
    found = library_of([Molecule(smiles, smiles, None) for smiles in SMILES]).typed["ad4"]
    assert isinstance(found, Ad4Ligands)
    return found


def field(ligands: Ad4Ligands) -> Ad4Field:
    """AutoDock4's field without maps, which need a device."""
    result = object.__new__(Ad4Field)
    types = np.unique(ligands.type[ligands.type != Ad4Type.NONE])
    result.slot = np.full(ad4.TYPES, -1, np.int32)
    result.slot[types] = 2 + np.arange(len(types))
    result.maps = SimpleNamespace(count=2 + len(types), grid=None)  # type: ignore[assignment]
    return result


def test_atoms_sides_and_pairs_are_those_of_the_ligands(ligands: Ad4Ligands) -> None:
    rows = np.random.default_rng(1).permutation(len(ligands.entry))
    chosen = field(ligands)
    found = chosen.particles(ligands, rows)
    batch = refining.pack(ligands, rows, chosen, RefineSettings(seed=1), ligands.type)
    assert np.array_equal(found.counts, chosen.sizes(ligands)[rows])
    torsions = np.diff(ligands.first_torsion)[rows]
    first_turn, first_atom = (np.cumsum(n) - n for n in (torsions, found.counts))
    assert torsions.max() > 3
    for place, row in enumerate(rows.tolist()):
        twin = Problem.of("ad4", ligands, row, chosen, np.zeros((chosen.maps.count, 2, 2, 2)))
        some = slice(first_atom[place], first_atom[place] + found.counts[place])
        local = found.rows[some] - ligands.first_atom[row]
        types = ligands.type[ligands.first_atom[row] : ligands.first_atom[row + 1]]
        atoms = np.flatnonzero(types != Ad4Type.NONE)
        order = np.searchsorted(atoms, local)
        assert np.array_equal(np.sort(local), atoms)
        assert np.array_equal(ligands.xyz[found.rows[some]], twin.xyz[order])
        assert found.values[some] == pytest.approx(twin.shares[order, 0])
        assert np.array_equal(found.kinds[some] & 255, types[local])
        for torsion in range(torsions[place]):
            first, last = found.torsion_range[first_turn[place] + torsion]
            number = np.arange(len(local))
            assert np.array_equal((number >= first) & (number < last), twin.far[torsion][order])
            axis = found.torsion_axis[first_turn[place] + torsion]
            assert np.array_equal(order[axis], twin.axis[torsion])
        words = batch.heats[0]["words"][place]
        start = batch.heats[0]["first_word"][place]
        mask = found.pairs[start : start + len(local) * words].reshape(len(local), words)
        bits = np.unpackbits(mask.view("u1"), axis=1, bitorder="little")[:, : len(local)]
        assert np.array_equal(bits.astype(bool), twin.tested[order][:, order])
