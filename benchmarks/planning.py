"""How long Snakemake plans a campaign of many chunks, beside the same jobs in bare rules.

    python benchmarks/planning.py [--chunks N]

Each is a dry run in a process of its own. The bare rules have as many jobs, inputs, outputs, logs,
parameters and resources, of fixed values, and commands that name these. The figures are seconds of
the processor, medians of runs in turn: other work on the machine lengthens all of them.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.leaving import in_words
from ligen_py.cli import at_least
from ligen_py.paths import snakefile

BARE = """
N = {chunks}
CHUNKS = [f"{{i}}-of-{{N}}" for i in range(1, N + 1)]
MERGED = [f"{{kind}}/{{one}}.h5" for kind in ("ligands", "refined", "scores") for one in CHUNKS]
rule all:
    input: "export", "report"
rule pocket:
    output: "pocket.h5"
    shell: "true"
rule parse:
    input: "drugs.smi"
    output: "ligands/{{chunk}}.h5"
    log: "logs/parse/{{chunk}}.log"
    conda: "env.yaml"
    params: flags="flags", code="code", contents=lambda wildcards: "digest"
    resources: mem_mb=lambda wildcards, attempt: 2000 * attempt, runtime=240
    message: "Parse {{wildcards.chunk}}"
    benchmark: "benchmarks/parse/{{chunk}}.tsv"
    shell: "parse {{input}} {{output}} {{threads}} {{params.flags}} > {{log}}"
rule screen:
    input: ligands="ligands/{{chunk}}.h5", pocket="pocket.h5"
    output: update("poses/{{chunk}}.h5"), update("kept/{{chunk}}.h5"),
            update("refined/{{chunk}}.h5"), "scores/{{chunk}}.h5"
    log: "logs/screen/{{chunk}}.log"
    benchmark: "benchmarks/screen/{{chunk}}.tsv"
    threads: 4
    conda: "env.yaml"
    params: flags="flags", search="ligen", code=["code"] * 4
    resources: mem_mb=lambda wildcards, attempt: 8000 * attempt, runtime=240
    message: "Screen {{wildcards.chunk}}"
    shell: "screen {{input.ligands}} {{input.pocket}} {{output[0]}} {{output[1]}} {{output[2]}}"
           " {{output[3]}} {{params.flags}} > {{log}}"
rule aggregate:
    input: "pocket.h5", MERGED
    output: "campaign.h5"
    shell: "true"
rule last:
    input: "campaign.h5"
    output: "export", "report"
    shell: "true"
"""


def seconds(folder: Path, *words: str) -> float:
    """Processor time of a dry run."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "all", *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Plan both and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=at_least(1), default=10_000)
    parser.add_argument("--runs", type=at_least(1), default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        molecules = (f"{'C' * (1 + i % 30)} m{i}\n" for i in range(options.chunks))
        (folder / "drugs.smi").write_text("".join(molecules))
        (folder / "r.pdb").write_text("END\n")
        site = {"center": [0.0, 0.0, 0.0], "radius": 8}
        config = {
            "targets": {"t": {"receptor": "r.pdb", "site": site}},
            "libraries": {"drugs": {"file": "drugs.smi", "chunks": options.chunks}},
        }
        (folder / "c.yaml").write_text(yaml.safe_dump(config))
        (folder / "env.yaml").write_text("dependencies: []\n")
        (folder / "Bare").write_text(BARE.format(chunks=options.chunks))
        ours = ["--snakefile", str(snakefile()), "--configfile", "c.yaml"]
        turns = [
            (seconds(folder, "--snakefile", "Bare"), seconds(folder, *ours))
            for _ in range(options.runs)
        ]
    bare, campaign = zip(*turns, strict=True)
    for what, found in (("bare rules", bare), ("campaign", campaign)):
        runs = f"{min(found):.1f} to {max(found):.1f}"
        print(f"{what:12} {median(found):7.1f} s of processor ({runs})")
    print(f"{options.chunks} chunks: ratio {median(campaign) / median(bare):.2f}")


if __name__ == "__main__":
    with in_words():
        main()
