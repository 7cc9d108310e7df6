"""Designs for thousands of genes: the work grows with the guides, not with their square."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ligen_py.engine.offtargets.design import enzyme_of, own_sites
from ligen_py.records.offtargets import Chromosomes, OffTargets
from ligen_py.sequences.genes import Annotation, Exon, read_annotation
from ligen_py.sequences.spacers import Spacer
from ligen_py.settings.guides import GuidesSettings

GENES = 300
LETTERS = b"ACGTACGTACGTACGTACGTAGG"


class Counted(list[Spacer]):
    """Guides that count how often they are gone through."""

    times = 0

    def __iter__(self) -> Iterator[Spacer]:
        self.times += 1
        return super().__iter__()


class Name(str):
    """A name that counts its comparisons, over all names."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str(self) is str(other) or str.__eq__(self, str(other))


def test_own_sites_go_through_the_guides_once_not_once_a_gene() -> None:
    spacers = Counted(
        Spacer(f"g{n // 2}", LETTERS[:20].decode(), "AGG", 0, 30 * (n % 2), 0, None)
        for n in range(2 * GENES)
    )
    size = len(spacers)
    columns = {
        name: np.zeros(size, column.metadata["dtype"])
        for name, column in OffTargets.__dataclass_fields__.items()
    }
    dna = np.tile(np.frombuffer(LETTERS, np.uint8), (size, 1))
    guide = np.arange(size, dtype=np.int32)
    # The chromosomes of genes are in no order.
    chromosome = ((guide // 2 * 7) % 11).astype(np.int32)
    rows = OffTargets(
        **columns | {"guide": guide, "dna": dna, "crrna": dna, "chromosome": chromosome}
    )
    names = np.array([f"c{n}" for n in range(11)], object)
    chromosomes = Chromosomes(names, names, np.full(11, 1000))
    found = own_sites(spacers, rows, chromosomes, enzyme_of(GuidesSettings()))
    assert found.tolist() == list(range(size))
    assert spacers.times <= 3


def counted(path: Path, contigs: int) -> Annotation:
    """Genes of two exons, spread over so many contigs, with names that count comparisons."""
    path.write_text(
        "".join(
            f"c{n % contigs}\t{start}\t{start + 50}\tg{n}\t0\t{'+-'[n % 2]}\n"
            for n in range(GENES)
            for start in (1000 * n, 1000 * n + 200)
        )
    )
    found = read_annotation(path)
    Name.compared = 0
    return replace(
        found,
        name=np.array([Name(name) for name in found.name], object),
        chromosome=np.array([Name(name) for name in found.chromosome], object),
    )


def test_genes_of_all_stretches_are_found_at_once(tmp_path: Path) -> None:
    annotation = counted(tmp_path / "a.bed", 3)
    for stretch in range(2 * GENES):
        start = 1000 * (stretch // 2)
        exons = (Exon(start, start + 50), Exon(start + 200, start + 250))
        assert annotation.gene_of(stretch).exons == (exons[::-1] if stretch // 2 % 2 else exons)
    assert Name.compared < 40 * GENES


def test_places_on_many_contigs_are_found_at_once(tmp_path: Path) -> None:
    annotation = counted(tmp_path / "a.bed", GENES)
    asked = np.array([Name(f"c{n}") for n in range(GENES + 1)], object)
    places = np.append(1000 * np.arange(GENES) + 225, 5)
    expected = [*range(1, 2 * GENES, 2), -1]
    assert annotation.coding(asked, places).tolist() == expected
    assert Name.compared < 40 * GENES
