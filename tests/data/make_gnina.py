"""Scores of poses by gnina's networks, in PyTorch on libmolgrid's densities and atom types.

    python -m venv gnina
    gnina/bin/pip install torch==1.13.1 molgrid==0.5.5 "numpy<2" "rdkit<2024" gemmi pandas
    gnina/bin/pip install --no-deps gninatorch==0.0.2 posebusters==0.6.5
    gnina/bin/python tests/data/make_gnina.py

Writes gnina.json: rigid moves of crystal ligands in prepared receptors, the channels of the atoms,
and the pose score and affinity by each network of gnina 1.0's default ensemble and by two with
random weights; and files that PyTorch wrote, new and old, with what they contain.
"""

import base64
import io
import json
import sys
import tempfile
from pathlib import Path

import molgrid
import numpy as np
import torch
from gninatorch.gnina import _rename, load_gnina_model
from gninatorch.models import Default2018Affinity, DenseAffinity
from rdkit import Chem
from sources import COMPLEXES, HERE, header, ligand

sys.path.insert(0, str(HERE.parents[1]))
from tests.gnina import ELEMENTS, NETWORKS, moved, places, random_tensors, receptor

POSES = 25


def pdb(rows: list[dict[str, str]]) -> str:
    """A receptor in PDB format."""
    symbols = {1: "H", 6: "C", 7: "N", 8: "O", 16: "S", 30: "Zn"}
    lines = []
    for number, row in enumerate(rows, 1):
        x, y, z = (float(row[axis]) for axis in "xyz")
        name = row["atom"] if len(row["atom"]) > 3 else f" {row['atom']:3}"
        lines.append(
            f"ATOM  {number:5} {name:4} {row['residue']:3} {row['chain'][:1]}{int(row['number']):4}"
            f"    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00          {symbols[ELEMENTS[row['type']]]:>2}"
        )
    return "\n".join([*lines, "END", ""])


def typed(code: str) -> list[molgrid.CoordinateSet]:
    """Receptor and crystal ligand as libmolgrid types them."""
    with tempfile.TemporaryDirectory() as folder:
        protein, molecule = Path(folder) / "protein.pdb", Path(folder) / "ligand.sdf"
        protein.write_text(pdb(receptor(code)))
        with Chem.SDWriter(str(molecule)) as writer:
            writer.write(ligand(code))
        types = Path(folder) / "one.types"
        types.write_text(f"1 {protein} {molecule}\n")
        provider = molgrid.ExampleProvider(shuffle=False, cache_structs=False)
        provider.populate(str(types))
        return list(provider.next().coord_sets)


def networks() -> dict[str, torch.nn.Module]:
    """All networks by name, ready to run."""
    found = {name: load_gnina_model(name) for name in NETWORKS}
    for name, kind in (("plain", Default2018Affinity), ("dense_random", DenseAffinity)):
        model = kind((28, 48, 48, 48))
        tensors = random_tensors(name.removesuffix("_random"))
        table = {_rename(key): torch.tensor(value) for key, value in tensors.items()}
        counted = {k: v for k, v in model.state_dict().items() if k.endswith("num_batches_tracked")}
        model.load_state_dict(table | counted)
        found[name] = model
    return {name: model.eval() for name, model in found.items()}


def numbers(values: list) -> list:
    return [round(float(value), 6) for value in values]


def scored(code: str, models: dict[str, torch.nn.Module], rng: np.random.Generator) -> dict:
    """One complex, its poses and their scores."""
    protein, molecule = typed(code)
    around, small = (
        [grid.tonumpy().copy() for grid in (each.coords, each.type_index, each.radii)]
        for each in (protein, molecule)
    )
    maker = molgrid.GridMaker(resolution=0.5, dimension=23.5)
    poses = []
    for number in range(POSES):
        turn = np.round([1, *rng.normal(0, 0.03 * number, 3)], 4).tolist()
        shift = np.round(rng.normal(0, 0.1 * number, 3), 3).tolist()
        xyz = moved(np.round(small[0].astype("f8"), 4), turn, shift)
        atoms = molgrid.CoordinateSet(
            np.concatenate([around[0], xyz]).astype("f4"),
            np.concatenate([around[1], small[1] + 14]).astype("f4"),
            np.concatenate([around[2], small[2]]).astype("f4"),
            28,
        )
        filled = molgrid.MGrid4f(28, 48, 48, 48)
        maker.forward(molgrid.float3(*xyz.mean(axis=0).tolist()), atoms, filled.cpu())
        grid = torch.tensor(filled.tonumpy().copy())
        with torch.no_grad():
            outputs = {name: model(grid[None]) for name, model in models.items()}
        poses.append(
            {
                "turn": turn,
                "shift": shift,
                "scores": {
                    name: numbers([log[0, 1].exp(), affinity[0]])
                    for name, (log, affinity) in outputs.items()
                },
            }
        )
    heavy = places(receptor(code)), protein.coords.tonumpy()
    row = [int(np.linalg.norm(heavy[0] - place, axis=1).argmin()) for place in heavy[1]]
    return {
        "complex": code,
        "receptor": {"row": row, "channel": around[1].astype(int).tolist()},
        "ligand": {
            "xyz": np.round(small[0].astype("f8"), 4).tolist(),
            "channel": (small[1] + 14).astype(int).tolist(),
            "radius": numbers(small[2]),
        },
        "poses": poses,
    }


def files() -> list[dict]:
    """Tables of tensors as PyTorch writes them, in both of its formats."""
    values = {"one.weight": [[1.5, -2.0, 0.25], [3.0, 4.0, -0.5]], "one.bias": [0.125], "count": 7}
    table = {name: torch.tensor(value) for name, value in values.items()}
    table["part"] = torch.arange(12, dtype=torch.float32).reshape(4, 3)[1:3]
    values["part"] = table["part"].tolist()
    found = []
    for is_archive in (True, False):
        stream = io.BytesIO()
        torch.save(table, stream, _use_new_zipfile_serialization=is_archive)
        found.append({"file": base64.b64encode(stream.getvalue()).decode(), "values": values})
    return found


def main() -> None:
    rng = np.random.default_rng(17)
    models = networks()
    head = header("make_gnina.py", "gninatorch", "molgrid", "torch", "rdkit")
    document = {
        "about": [line.removeprefix("# ") for line in head],
        "complexes": [scored(code, models, rng) for code in COMPLEXES],
        "files": files(),
    }
    text = json.dumps(document, indent=None, separators=(",", ":"))
    (HERE / "gnina.json").write_text(text.replace('{"turn"', '\n{"turn"') + "\n")


if __name__ == "__main__":
    main()
