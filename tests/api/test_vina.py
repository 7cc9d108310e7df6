"""Vina reads the exported receptor and poses, and scores them as this program does."""

from pathlib import Path

import pytest
from rdkit import Chem


def test_vina_scores_exported_poses_as_we_do(kept: Path) -> None:
    files = sorted((kept / "hits-pdbqt").iterdir())
    mols = list(Chem.SDMolSupplier(str(kept / "hits.sdf"), removeHs=False))
    assert len(files) == len(mols) == 4
    judge = pytest.importorskip("vina").Vina(sf_name="vina", verbosity=0)
    judge.set_receptor(str(kept / "hits-receptor.pdbqt"))
    centre = mols[0].GetConformer().GetPositions().mean(axis=0).tolist()
    judge.compute_vina_maps(center=centre, box_size=[24, 24, 24])
    for file, mol in zip(files, mols, strict=True):
        judge.set_ligand_from_file(str(file))
        theirs = judge.score()[0]
        assert theirs == pytest.approx(float(mol.GetProp("vina.affinity")), abs=0.02)
        assert f"REMARK VINA RESULT: {float(mol.GetProp('vina.affinity')):9.3f}" in file.read_text()
