"""Drugs in a real pocket: both forms of docking write the same file."""

from pathlib import Path

from ligen_py import dock, parse, pocket
from tests.mini import DHFR

DRUGS = Path(__file__).parents[2] / "config" / "demo" / "drugs.smi"


def test_drugs_dock_alike_in_both_modes(tmp_path: Path) -> None:
    library = tmp_path / "drugs.smi"
    library.write_text("".join(DRUGS.read_text().splitlines(keepends=True)[:12]))
    ligands, site = tmp_path / "ligands.h5", tmp_path / "pocket.h5"
    assert parse.main(["--input", str(library), "--output", str(ligands), "--jobs", "1"]) == 0
    receptor, ligand = DHFR / "1ia1_protein_one_lig_removed.pdb", DHFR / "1ia1_ligand.sdf"
    found = ["--receptor", str(receptor), "--ligand", str(ligand), "--output", str(site)]
    assert pocket.main(found) == 0
    written = {}
    for mode in ("latency", "batched"):
        poses = tmp_path / f"{mode}.h5"
        inputs = ["--ligands", str(ligands), "--pocket", str(site), "--output", str(poses)]
        assert dock.main([*inputs, "--mode", mode, "--num-restart", "32"]) == 0
        written[mode] = poses.read_bytes()
    assert written["latency"] == written["batched"]
