"""Write the data of `make demo-sequences`: a small genome with genes, and a family of proteins.

    python config/demo-sequences/make_data.py FOLDER

Everything is random, from a fixed seed. GENE1 has three exons on the reverse strand of chr1; chr2
has a copy of it in which one base of twenty differs, as a pseudogene has. The proteins are 2,000
unrelated ones, and 12 relatives of the query that share 95 to 30 % of its residues.
"""

import argparse
from pathlib import Path

import numpy as np

EXONS = ((60_000, 60_240), (61_000, 61_180), (62_500, 62_680))
LENGTHS = {"chr1": 200_000, "chr2": 150_000, "chr3": 50_000}
COMPLEMENT = str.maketrans("ACGT", "TGCA")
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
FREQUENCIES = (
    *(8.25, 5.53, 4.06, 5.46, 1.38, 3.93, 6.71, 7.07, 2.27, 5.91),
    *(9.64, 5.80, 2.41, 3.86, 4.74, 6.65, 5.36, 1.10, 2.92, 6.85),
)
"""Of the amino acids in Swiss-Prot, in per cent."""
GTF = '{}\tmade\tCDS\t{}\t{}\t.\t{}\t0\tgene_id "{}"; gene_name "{}"; transcript_id "{}.1";\n'


def genome(rng: np.random.Generator) -> dict[str, str]:
    """Chromosomes with N at their ends; chr2 has the copy of GENE1."""
    made = {}
    for name, length in LENGTHS.items():
        letters = rng.choice(list("ACGT"), length, p=(0.295, 0.205, 0.205, 0.295))
        letters[:500] = letters[-500:] = "N"
        made[name] = "".join(letters)
    first, last = EXONS[0][0] - 500, EXONS[-1][1] + 500
    copy = list(made["chr1"][first:last])
    for place in np.flatnonzero(rng.random(len(copy)) < 0.05):
        copy[place] = str(rng.choice([base for base in "ACGT" if base != copy[place]]))
    chr2 = made["chr2"]
    made["chr2"] = chr2[:80_000] + "".join(copy) + chr2[80_000 + len(copy) :]
    return made


def proteins(rng: np.random.Generator) -> tuple[str, list[tuple[str, str]]]:
    """A query, and records of unrelated and related proteins, mixed."""
    share = np.array(FREQUENCIES) / sum(FREQUENCIES)

    def some(length: int) -> str:
        return "".join(rng.choice(list(AMINO_ACIDS), length, p=share))

    query = some(280)
    records = []
    for number in range(2000):
        length = int(np.clip(np.exp(rng.normal(5.7, 0.6)), 30, 3000))
        records.append((f"sp|U{number:05d}|MADE_{number} unrelated", some(length)))
    for number, same in enumerate(np.linspace(0.95, 0.30, 12)):
        text = "".join(a if rng.random() < same else some(1) for a in query)
        cut = int(rng.integers(20, 250))
        text = some(15) + text[:cut] + text[cut + 4 :] + some(25)
        place = int(rng.integers(0, len(records)))
        name = f"sp|R{number:05d}|RELATIVE_{number} {100 * same:.0f} % of the query's residues"
        records.insert(place, (name, text))
    return query, records


def fasta(records: list[tuple[str, str]]) -> str:
    """Records in lines of 60 letters."""
    lines = []
    for name, text in records:
        lines += [f">{name}", *(text[n : n + 60] for n in range(0, len(text), 60))]
    return "\n".join(lines) + "\n"


def write(folder: Path) -> None:
    """Write all files into a folder."""
    rng = np.random.default_rng(20261122)
    folder.mkdir(parents=True, exist_ok=True)
    chromosomes = genome(rng)
    (folder / "genome.fa").write_text(fasta(list(chromosomes.items())))
    lines = [GTF.format("chr1", a + 1, b, "-", "G1", "GENE1", "T1") for a, b in EXONS]
    lines += [GTF.format("chr3", 10_001, 10_900, "+", "G2", "GENE2", "T2")]
    (folder / "genes.gtf").write_text("".join(lines))
    query, records = proteins(rng)
    (folder / "query.fa").write_text(fasta([("sp|Q00001|QUERY the protein of GENE1", query)]))
    (folder / "proteins.fa").write_text(fasta(records))
    # Two guides that a colleague proposed: one of the gene, one that is in its copy, too.
    first, last = EXONS[1]
    exon = chromosomes["chr1"][first:last][::-1].translate(COMPLEMENT)
    places = [n for n in range(len(exon) - 23) if exon[n + 21 : n + 23] == "GG"]
    guides = "".join(f"{exon[n : n + 20]}NNN 4 proposed_{n}\n" for n in places[:2])
    (folder / "cas-offinder.txt").write_text(f"genome.fa\n{'N' * 21}RG 1 1\n{guides}")


def main() -> None:
    """Write the data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to write into")
    write(parser.parse_args().folder)


if __name__ == "__main__":
    main()
