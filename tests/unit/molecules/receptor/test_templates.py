"""What the atoms of amino acids are."""

import pytest

from ligen_py.molecules.receptor.templates import PARTNER, STATES, amino_acid


@pytest.mark.parametrize("state", [state for state in STATES if state not in PARTNER])
def test_charges_of_amino_acids_add_up(state: str) -> None:
    atoms = amino_acid(state)
    total = sum(each.charge + each.hydrogens * each.hydrogen_charge for each in atoms.values())
    formal = sum(charged for charged, _ in STATES[state].values())
    # What the peptide bonds draw from the neighbours is not the residue's.
    assert total == pytest.approx(formal, abs=0.02)


def test_the_last_residue_is_a_carboxylate() -> None:
    atoms = amino_acid("GLY", "carboxylate")
    assert atoms["OXT"].charge == pytest.approx(atoms["O"].charge)
    assert (
        sum(each.charge + each.hydrogens * each.hydrogen_charge for each in atoms.values()) < -0.9
    )
