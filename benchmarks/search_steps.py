"""Where the seconds of `ligen offtargets` and `ligen homologs` go on the host, step by step.

    python benchmarks/search_steps.py [--device SELECTOR] [--without-kernels] [--folder FOLDER]
                                      [--megabases 1000] [--guides 1000] [--residues MILLIONS]

Runs off-targets from FASTA and from the cache, and homologs from a database file, on the random
data of the two searches' own benchmarks. Each run is a process of its own. A line is a step: when
it began and ended, in seconds since the process was started, its seconds of wall-clock time and of
processor time of all threads. Steps may contain others and run beside others.

With --without-kernels a marker stands in the place of each kernel of a search, pieces are those of
a GPU, and 80 random sites a megabase are turned into rows: what the host adds to the kernels can be
seen on any computer.
"""

import argparse
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout as it is

from benchmarks.leaving import in_words
from ligen_py.cli import at_least

STEPS = {
    "offtargets": (
        "offtargets:select_all", "offtargets:read_genome", "sequences.genome:_packed",
        "sequences.digests:Known.hash", "sequences.genome:_save", "offtargets:search",
        "engine.offtargets.search:Searcher.__init__", "engine.offtargets.search:Searcher._launch",
        "engine.offtargets.search:Searcher._fetch", "offtargets:rows_of", "offtargets:write",
    ),
    "homologs": (
        "homologs:select_all", "homologs:database_of", "store.files.read:_opened",
        "store.sequences.database:DatabaseFile.__init__",
        "store.sequences.database:DatabaseFile.blocks", "homologs:_search",
        "engine.alignment.methods:Resident.__init__", "engine.alignment.search:Searcher._launch",
        "engine.alignment.search:Searcher._fetch", "homologs:results", "homologs:write",
    ),
}  # fmt: skip
"""Functions of each command that are timed, by module and name."""

BEGAN = "LIGEN_BENCHMARK_BEGAN"
SITES_A_MEGABASE = 80

Spans = dict[str, list[tuple[float, float, float]]]


def timed(work: Callable[..., Any], name: str, spans: Spans) -> Callable[..., Any]:
    """A function that also notes when it ran."""

    def wrapped(*given: Any, **named: Any) -> Any:
        start, spent = time.time(), time.process_time()
        try:
            return work(*given, **named)
        finally:
            spans.setdefault(name, []).append((start, time.time(), time.process_time() - spent))

    return wrapped


def child(name: str, words: list[str]) -> int:
    """Run a command with its steps timed, and print them."""
    began, spans = float(os.environ[BEGAN]), Spans()
    main = timed(import_module, "Python and imports", spans)(f"ligen_py.{name}").main
    spans["Python and imports"][0] = (began, time.time(), time.process_time())
    if "--without-kernels" in words:
        words.remove("--without-kernels")
        leave_kernels_out(name)
    for step in STEPS[name]:
        module, _, path = step.partition(":")
        owner = import_module(f"ligen_py.{module}")
        *holders, last = path.split(".")
        for holder in holders:
            owner = getattr(owner, holder)
        setattr(owner, last, timed(getattr(owner, last), path, spans))
    with contextlib.redirect_stdout(io.StringIO()):  # the lists of hits
        status: int = main(words)
    for step, times in sorted(spans.items(), key=lambda item: item[1][0][0]):
        wall = sum(end - start for start, end, _ in times)
        first, last_ = times[0][0] - began, times[-1][1] - began
        spent = sum(part for _, _, part in times)
        print(f"{first:7.3f} to {last_:7.3f}: {wall:7.3f} s, {spent:7.3f} core-s  {step}")
    print(f"{time.time() - began:7.3f} end of the command", flush=True)
    return status


def leave_kernels_out(name: str) -> None:
    """Let the searches' kernels do nothing, on any device as on a GPU."""
    import numpy as np
    import pyopencl as cl

    from ligen_py.engine.alignment import methods
    from ligen_py.engine.alignment import search as alignment
    from ligen_py.engine.offtargets import search as offtargets

    def marker(self: Any, queue: Any, *_: Any) -> Any:
        return cl.enqueue_marker(queue)

    def zeros(self: Any, there: Any, query: Any, bits: int, scores: Any) -> list[Any]:
        return [cl.enqueue_fill_buffer(there.device.queue, scores, np.int32(0), 0, scores.size)]

    if name == "homologs":
        methods.Wavefront.launch = zeros  # type: ignore[method-assign]
        alignment.method_of = lambda _: methods.Wavefront  # type: ignore[assignment]
        return
    form = offtargets.Form(64, 2, 4, 1, 1, 1 << 21)
    offtargets.Form.of = classmethod(lambda cls, device: form)  # type: ignore[assignment,method-assign]
    cl.Kernel.__call__ = marker
    stage, search = import_module("ligen_py.offtargets"), offtargets.search

    def with_random_sites(devices: Any, query: Any, genome: Any, *rest: Any, **named: Any) -> Any:
        _, seconds = search(devices, query, genome, *rest, **named)
        rng, count = np.random.default_rng(1), int(genome.bases * SITES_A_MEGABASE / 1e6)
        sites = offtargets.Sites(
            rng.integers(0, len(query.guides), count),
            rng.integers(1000, 32 * (genome.planes.shape[1] - 32), count),
            rng.integers(0, 2, count, dtype=np.uint8),
            np.zeros(count, np.uint8),
        )
        return sites, seconds

    stage.search = with_random_sites  # type: ignore[attr-defined]


def run(title: str, name: str, *words: str) -> None:
    """Time a command in a process of its own."""
    print(f"\n{title}", flush=True)
    start = time.time()
    command = [sys.executable, __file__, "--child", name, *words]
    used = os.times()
    subprocess.run(command, check=True, env=os.environ | {BEGAN: str(start)}, stderr=sys.stderr)
    now = os.times()
    cpu = now.children_user + now.children_system - used.children_user - used.children_system
    print(f"{time.time() - start:7.3f} end of the process; {cpu:.2f} core-s", flush=True)


def main() -> None:
    """Print the tables."""
    if sys.argv[1:2] == ["--child"]:
        sys.exit(child(sys.argv[2], sys.argv[3:]))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device")
    parser.add_argument("--without-kernels", action="store_true")
    parser.add_argument("--megabases", type=float, default=1000)
    parser.add_argument("--guides", type=at_least(1), default=1000)
    parser.add_argument("--residues", type=float, default=200, help="millions of the database")
    parser.add_argument("--folder", type=Path, help="for the made files; default: a new one")
    options = parser.parse_args()
    import numpy as np

    from benchmarks import homologs, offtargets

    more = [*(["--device", options.device] if options.device else [])]
    more += ["--without-kernels"] if options.without_kernels else []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        rng = np.random.default_rng(20261121)
        genome = folder / "genome.fa"
        offtargets.genome_file(genome, options.megabases, rng)
        guides = offtargets.random_guides(options.guides, 4, rng)
        lines = "".join(f"{guide.sequence} {guide.limit}\n" for guide in guides)
        (folder / "input.txt").write_text(f"{genome}\n{offtargets.PATTERN}\n{lines}")
        words = ["--input", str(folder / "input.txt"), "--output", str(folder / "out.h5")]
        words += ["--cache", str(folder / "cache"), *more]
        time.sleep(2.5)  # younger files are not known by their times
        run("offtargets, first run: kernels are compiled", "offtargets", *words)
        for path in (folder / "cache").glob("*"):
            subprocess.run(["rm", "-r", str(path)], check=True)
        run("offtargets from FASTA", "offtargets", *words)
        run("offtargets from the cache", "offtargets", *words)
        database, queries = folder / "random.h5", folder / "queries.fa"
        homologs.database_file(homologs.database(int(options.residues * 1e6)), database)
        homologs.query_file(queries)
        words = ["--query", str(queries), "--database", str(database), "--quiet"]
        words += ["--output", str(folder / "hits.h5"), *more]
        run("homologs, first run: kernels are compiled", "homologs", *words)
        run("homologs from the database file", "homologs", *words)


if __name__ == "__main__":
    with in_words():
        main()
