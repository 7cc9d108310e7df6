"""Write `predicted.tsv`: the pKa that are predicted for molecules that use every part of the model.

    python -m tests.unit.molecules.ligands.make_predicted

Not values of another program: whoever changes the model looks at what changes here.
"""

from pathlib import Path

from rdkit import Chem

from ligen_py.molecules.ligands.pka import sites
from tests.unit.molecules.ligands.test_protonation import MEASURED, NAMED

FURTHER = (
    "OC(=O)c1ccccn1", "OC(=O)c1cccnc1", "OC(=O)c1ccncc1", "c1ccnnc1", "c1cncnc1", "c1cnccn1",
    "Nc1ccnnc1", "OC(=O)c1ncccn1", "OC(=O)c1cnccn1", "NCc1ccccn1", "Oc1cccnc1", "Nc1ncncc1Cl",
    "OC(=O)c1ccc2ncccc2c1", "OC(=O)c1ccc2[nH]ccc2c1", "c1ccc2ncccc2c1", "Clc1ccc2ncccc2c1",
    "COc1cc(N)c(N)cn1", "COc1ccnc(N(C)C)c1", "Cc1cc(C)nc(N)c1", "FC(F)(F)c1ccncc1",
    "OC(=O)C(F)(F)F", "OC(=O)C(Cl)(Cl)Cl", "OC(=O)CC(=O)O", "OC(=O)CCCC(F)(F)F", "NCC(F)F",
    "NCCC(F)(F)F", "NCCCC(F)(F)F", "NCCCCC(F)(F)F", "O=S1(=O)CCNCC1", "C1CN2CCC1CC2",
    "Oc1c(F)cccc1F", "Oc1ccccc1C=O", "Oc1ccc(C#N)cc1", "Oc1cccc([N+](=O)[O-])c1",
    "Cc1nc[nH]c1CO", "Clc1c[nH]cn1", "O=C(O)c1cnc[nH]1", "NC(=N)c1ccccc1", "CNC(=N)NC",
)  # fmt: skip
"""Molecules beside the tests' with measured pKa: aza rings, several groups, far groups."""


def main() -> None:
    """Write the table."""
    named = [text for text, _ in (*MEASURED.values(), *NAMED.values())]
    lines = ["smiles\tsites"]
    for text in dict.fromkeys([*named, *FURTHER]):
        found = [f"{site.family}: {site.pka:.2f}" for site in sites(Chem.MolFromSmiles(text))]
        lines.append(f"{text}\t{'; '.join(found)}")
    Path(__file__).with_name("predicted.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
