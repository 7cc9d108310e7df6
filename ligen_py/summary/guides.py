"""Guides of a gene as people and other programs read them: TSV and BED."""

import math
from collections.abc import Iterable, Iterator

import numpy as np

from ligen_py import __version__
from ligen_py.records.guides import GuideRole, GuideVerdict, RankedGuides
from ligen_py.records.offtargets import Chromosomes, OffTargets
from ligen_py.store.files.text import harmless
from ligen_py.summary.offtargets import COMMENT, guarded, lines

VERDICTS = {
    GuideVerdict.GOOD: "good",
    GuideVerdict.NO_SITE: "no site in the genome",
    GuideVerdict.REPEATED: "other perfect sites",
    GuideVerdict.POLY_T: "TTTT",
    GuideVerdict.GC: "GC content",
}


def guides_tsv(guides: RankedGuides, chromosomes: Chromosomes, mismatches: int) -> Iterator[str]:
    """guides.tsv: a comment, a header, a guide a line; up to `mismatches` of an off-target."""
    yield (
        f"# ligen_py {__version__}; position: leftmost base of the guide's own site on the forward "
        "strand, from 0; cut: first base behind the cut; off-targets are without that site\n"
    )
    plain = [f"mm{number}" for number in range(mismatches + 1)]
    yield "\t".join([
        "rank", "guide_id", "role", "verdict", "gene", "exon", "coding_place", "spacer", "pam",
        "chromosome", "position", "strand", "cut", "gc", "longest_t", *plain, "dna_bulges",
        "rna_bulges", "coding_offtargets", "mit_specificity",
    ]) + "\n"  # fmt: skip
    for row, rank in enumerate(ranks(guides)):
        count = guides.count[row]
        sited = guides.chromosome[row] >= 0
        of_gene = guides.role[row] == GuideRole.GENE
        cells = [
            rank,
            harmless(guides.name[row]),
            GuideRole(guides.role[row]).name.lower(),
            VERDICTS[GuideVerdict(guides.verdict[row])],
            harmless(guides.gene[row]),
            guides.exon[row] or "",
            guides.coding_place[row] if of_gene else "",
            guides.spacer[row],
            guides.pam[row],
            harmless(chromosomes.name[guides.chromosome[row]]) if sited else "",
            guides.position[row] if sited else "",
            "+-"[guides.strand[row]] if sited else "",
            guides.cut[row] if sited else "",
            f"{guides.gc[row]:.2f}",
            guides.longest_t[row],
            *count[0, : mismatches + 1],
            count[1:3].sum(),
            count[3:5].sum(),
            guides.coding[row] if guides.coding[row] >= 0 else "",
            "" if math.isnan(guides.specificity[row]) else f"{guides.specificity[row]:.2f}",
        ]
        yield "\t".join(map(str, cells)) + "\n"


def ranks(guides: RankedGuides) -> list[int]:
    """Rank of each row within its gene, and among the controls, from 1."""
    seen: dict[str, int] = {}
    result = []
    for gene in guides.gene:
        seen[gene] = seen.get(gene, 0) + 1
        result.append(seen[gene])
    return result


def guides_bed(guides: RankedGuides, chromosomes: Chromosomes, window: int) -> Iterator[str]:
    """BED9: windows of `window` bases of the guides' own sites.

    The score is ten times the specificity; good guides are green, others grey.
    """
    names = guarded(guides).name
    for row in np.flatnonzero(guides.chromosome >= 0):
        start = int(guides.position[row])
        known = not math.isnan(guides.specificity[row])
        score = round(10 * guides.specificity[row]) if known else 0
        colour = "21,128,61" if guides.verdict[row] == GuideVerdict.GOOD else "128,128,128"
        yield (
            f"{chromosomes.name[guides.chromosome[row]]}\t{start}\t{start + window}\t"
            f"{names[row]}\t{score}\t{'+-'[guides.strand[row]]}\t{start}\t{start + window}\t"
            f"{colour}\n"
        )


def offtargets_tsv(
    guides: RankedGuides,
    chromosomes: Chromosomes,
    rows: OffTargets,
    own: np.ndarray,
    genes: Iterable[str],
) -> Iterator[str]:
    """offtargets.tsv: the sites of the guides, their own included, with the gene that each cuts.

    A comment, a header, a site a line.
    """
    yield f"{COMMENT}; own_site: whether it is the guide's own\n"
    yield (
        "guide_id\tbulge_type\tcrRNA\tDNA\tchromosome\tposition\tstrand\tmismatches\tbulge_size\t"
        "own_site\tcoding_gene\n"
    )
    found = lines(guarded(guides).name, guarded(chromosomes), rows)
    named = zip(found, own, genes, strict=True)
    for line, is_own, gene in named:
        yield (
            f"{line.name}\t{line.bulge}\t{line.crrna}\t{line.dna}\t{line.chromosome}\t"
            f"{line.position}\t{line.strand}\t{line.mismatches}\t{line.size}\t"
            f"{'yes' if is_own else 'no'}\t{harmless(gene)}\n"
        )
