"""Coding exons of annotations: GTF, GFF3, BED."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from ligen_py.errors import InputError
from ligen_py.sequences.genes import Exon, joined, read_annotation

GTF = """\
#!genome-build test
chr1\tx\tgene\t101\t900\t.\t+\t.\tgene_id "G1.7"; gene_name "ONE";
chr1\tx\tCDS\t101\t200\t.\t+\t0\tgene_id "G1.7"; gene_name "ONE"; transcript_id "T1.2";
chr1\tx\tCDS\t151\t250\t.\t+\t0\tgene_id "G1.7"; gene_name "ONE"; transcript_id "T2.1";
chr1\tx\tCDS\t401\t500\t.\t+\t0\tgene_id "G1.7"; gene_name "ONE"; transcript_id "T1.2";
chr2\tx\tCDS\t11\t40\t.\t-\t0\tgene_id "G2"; gene_name "TWO";
chr2\tx\tCDS\t61\t80\t.\t-\t0\tgene_id "G2"; gene_name "TWO";
chr2\tx\texon\t1\t95\t.\t-\t0\tgene_id "G2"; gene_name "TWO";
"""
GFF = """\
##gff-version 3
chr1\tx\tCDS\t101\t200\t.\t+\t0\tID=cds:P1;Parent=transcript:T1;gene=ONE%2CA
chr1\tx\tCDS\t401\t500\t.\t+\t0\tID=cds:P1;Parent=transcript:T1;gene=ONE%2CA
##FASTA
>chr1
ACGT
"""
BED = "chr1\t100\t500\tONE\t0\t-\t120\t450\t0\t2\t60,100,\t0,300,\n"


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("asked", ["ONE", "G1", "G1.7"])
def test_exons_of_all_transcripts_are_joined(tmp_path: Path, asked: str) -> None:
    gene = read_annotation(written(tmp_path / "a.gtf", GTF)).gene(asked)
    assert (gene.chromosome, gene.strand) == ("chr1", 0)
    assert gene.exons == (Exon(100, 250), Exon(400, 500))
    assert [gene.exon_at(place) for place in (99, 100, 249, 250, 400)] == [0, 1, 1, 0, 2]
    assert [gene.coding_place(place) for place in (100, 249, 400)] == [0, 149, 150]


def test_a_transcript_of_its_own(tmp_path: Path) -> None:
    annotation = read_annotation(written(tmp_path / "a.gtf", GTF.replace("\n", "\r\n")))
    assert annotation.gene("T1").exons == (Exon(100, 200), Exon(400, 500))


def test_exons_of_the_other_strand_are_numbered_backwards(tmp_path: Path) -> None:
    gene = read_annotation(written(tmp_path / "a.gtf", GTF)).gene("TWO")
    assert gene.exons == (Exon(60, 80), Exon(10, 40))
    assert [gene.exon_at(place) for place in (79, 10)] == [1, 2]
    assert [gene.coding_place(place) for place in (79, 60, 39, 10)] == [0, 19, 20, 49]


def test_a_semicolon_in_quotes_ends_no_attribute(tmp_path: Path) -> None:
    text = GTF.replace('gene_id "G1.7";', 'note "alpha; gene_name beta; x"; gene_id "G1.7";', 2)
    gene = read_annotation(written(tmp_path / "a.gtf", text)).gene("ONE")
    assert gene.exons == (Exon(100, 250), Exon(400, 500))


def test_quotes_mean_nothing_in_gff3(tmp_path: Path) -> None:
    line = 'chr1\tx\tCDS\t101\t200\t.\t+\t0\tID=c;Note=5" end;Parent=t1;product=3" exo;gene=ABC\n'
    gene = read_annotation(written(tmp_path / "a.gff3", line)).gene("t1")
    assert (gene.exons, gene.name) == ((Exon(100, 200),), "t1")


def test_gff3_compressed(tmp_path: Path) -> None:
    path = tmp_path / "a.gff3.gz"
    path.write_bytes(gzip.compress(GFF.encode()))
    annotation = read_annotation(path)
    assert set(annotation.name) == {"ONE,A"}
    for asked in ("ONE,A", "T1", "transcript:T1", "P1"):
        assert annotation.gene(asked).exons == (Exon(100, 200), Exon(400, 500))


ENSEMBL = """\
chr1\tx\tgene\t101\t900\t.\t+\t.\tID=gene:ENSG1;Name=ONE;gene_id=ENSG1
chr1\tx\tmRNA\t101\t900\t.\t+\t.\tID=transcript:ENST1;Parent=gene:ENSG1;Name=ONE-201
chr1\tx\tCDS\t101\t200\t.\t+\t0\tID=CDS:ENSP1;Parent=transcript:ENST1;protein_id=ENSP1
chr1\tx\tCDS\t401\t500\t.\t+\t0\tID=CDS:ENSP2;Parent=transcript:ENST2;protein_id=ENSP2
chr1\tx\tmRNA\t101\t900\t.\t+\t.\tID=transcript:ENST2;Parent=gene:ENSG1;Name=ONE-202
chr1\tx\tCDS\t701\t800\t.\t+\t0\tID=CDS:ENSP3;Parent=transcript:ENST3;protein_id=ENSP3
"""


def test_the_names_of_genes_stand_in_lines_of_their_own_in_gff3(tmp_path: Path) -> None:
    """As Ensembl writes them: a line CDS names its transcript, whose line names the gene."""
    annotation = read_annotation(written(tmp_path / "a.gff3", ENSEMBL))
    assert annotation.name.tolist() == ["ONE", "ONE", "transcript:ENST3"]
    for asked in ("ONE", "ENSG1", "gene:ENSG1"):
        assert annotation.gene(asked).exons == (Exon(100, 200), Exon(400, 500))
    for asked in ("ONE-202", "ENST2", "ENSP2"):
        assert annotation.gene(asked).exons == (Exon(400, 500),)
    assert annotation.gene_of(0).exons == (Exon(100, 200), Exon(400, 500))


def test_an_alias_names_a_gene_where_nothing_else_is_called_so(tmp_path: Path) -> None:
    """Joined, two genes of one strand that share a name would be one."""
    text = ENSEMBL.replace("Name=ONE;", "Name=ONE;Alias=FIRST.2,TWO,BOTH;")
    text += "chr1\tx\tgene\t2001\t2900\t.\t+\t.\tID=g2;Name=TWO;Alias=BOTH\n"
    text += "chr1\tx\tCDS\t2001\t2100\t.\t+\t0\tParent=g2\n"
    annotation = read_annotation(written(tmp_path / "a.gff3", text))
    for asked in ("FIRST", "FIRST.2"):
        assert annotation.gene(asked).exons == (Exon(100, 200), Exon(400, 500))
    assert annotation.gene("TWO").exons == (Exon(2000, 2100),)
    with pytest.raises(
        InputError, match=r"a\.gff3: 'BOTH' is a further name of ONE, TWO; name one"
    ):
        annotation.gene("BOTH")


SGD = """\
chrI\tx\tgene\t101\t900\t.\t-\t.\tID=YAL001C;Name=YAL001C;gene=TFC3
chrI\tx\tmRNA\t101\t900\t.\t-\t.\tID=YAL001C_mRNA;Name=YAL001C_mRNA;Parent=YAL001C
chrI\tx\tCDS\t101\t200\t.\t-\t0\tParent=YAL001C_mRNA;Name=YAL001C_CDS
chrI\tx\tCDS\t401\t500\t.\t-\t0\tParent=YAL001C_mRNA;Name=YAL001C_CDS_2
chrI\tx\tCDS\t701\t800\t.\t-\t0\tParent=none;Name=ALONE
"""


def test_the_name_of_a_cds_is_not_that_of_its_gene(tmp_path: Path) -> None:
    """Off-targets were in genes called YAL001C_CDS, and each CDS was the first exon of its own."""
    annotation = read_annotation(written(tmp_path / "a.gff3", SGD))
    assert annotation.name.tolist() == ["TFC3", "TFC3", "ALONE"]
    assert annotation.gene_of(0).exons == (Exon(400, 500), Exon(100, 200))
    for asked in ("TFC3", "YAL001C"):
        assert annotation.gene(asked).exons == annotation.gene_of(0).exons
    assert annotation.gene("YAL001C_CDS").exons == (Exon(100, 200),)


def test_parents_that_are_each_others_have_an_end(tmp_path: Path) -> None:
    text = ENSEMBL.replace("ID=gene:ENSG1;", "ID=gene:ENSG1;Parent=transcript:ENST1;")
    assert read_annotation(written(tmp_path / "a.gff3", text)).gene("ONE").exons[0].start == 100


def test_transcripts_that_share_an_exon_in_gff3(tmp_path: Path) -> None:
    text = GFF.replace("Parent=transcript:T1;", "Parent=transcript:T1,transcript:T2;", 1)
    annotation = read_annotation(written(tmp_path / "a.gff3", text))
    assert annotation.gene("T1").exons == (Exon(100, 200), Exon(400, 500))
    assert annotation.gene("T2").exons == (Exon(100, 200),)


def test_bed_with_blocks_is_cut_to_its_thick_part(tmp_path: Path) -> None:
    gene = read_annotation(written(tmp_path / "a.bed", BED)).gene("ONE")
    assert gene.exons == (Exon(400, 450), Exon(120, 160))
    plain = written(
        tmp_path / "b.bed", "track name=x\nchr1\t5\t9\tONE\t0\t+\nchr1\t9\t12\tONE\t0\t+"
    )
    assert read_annotation(plain).gene("ONE").exons == (Exon(5, 12),)


def test_a_line_of_bed_without_a_thick_part_codes_for_nothing(tmp_path: Path) -> None:
    """So UCSC writes the transcripts of RNA genes; off-targets in them were in coding sequence."""
    rna = BED.replace("ONE", "RNA").replace("120\t450", "100\t100")
    annotation = read_annotation(written(tmp_path / "a.bed", BED + rna))
    assert annotation.name.tolist() == ["ONE", "ONE"]
    with pytest.raises(InputError, match="has no coding sequence of a gene 'RNA'"):
        annotation.gene("RNA")
    alone = read_annotation(written(tmp_path / "b.bed", rna))
    assert alone.gene("RNA").exons == (Exon(400, 500), Exon(100, 160))


def test_a_line_of_bed_without_a_base_counts_for_nothing(tmp_path: Path) -> None:
    """Such a line, of an insertion, was said to be no BED."""
    path = written(tmp_path / "a.bed", "c\t5\t5\tONE\t0\t+\nc\t7\t9\tONE\t0\t+\n")
    assert read_annotation(path).gene("ONE").exons == (Exon(7, 9),)


def test_a_byte_order_mark_is_none_of_the_first_line(tmp_path: Path) -> None:
    for name, text in (("a.gtf", GTF), ("b.bed", BED + BED)):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8-sig")
        assert read_annotation(path).gene("ONE").chromosome == "chr1"


def test_exons_alone_count_where_there_is_no_cds(tmp_path: Path) -> None:
    path = written(tmp_path / "a.gtf", 'c\tx\texon\t1\t9\t.\t+\t.\tgene_id "G";\n')
    assert read_annotation(path).gene("G").exons == (Exon(0, 9),)


def test_the_stretch_at_a_place_is_that_of_a_plain_scan(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    lines = []
    for number in range(60):
        start = int(rng.integers(0, 900))
        end = start + int(rng.integers(1, 150))
        lines.append(f"chr{rng.integers(1, 3)}\t{start}\t{end}\tgene{number}\n")
    annotation = read_annotation(written(tmp_path / "a.bed", "".join(lines)))
    names = np.array([f"chr{n}" for n in rng.integers(1, 4, 2000)], object)
    places = rng.integers(0, 1100, 2000)
    found = annotation.coding(names, places)
    for name, place, stretch in zip(names, places, found, strict=True):
        inside = np.flatnonzero(
            (annotation.chromosome == name) & (annotation.start <= place) & (annotation.end > place)
        )
        assert (stretch in inside) if len(inside) else stretch == -1
    assert (found >= 0).sum() > 500


@pytest.mark.parametrize("sign", [".", "?"])
def test_a_gene_without_a_strand_is_refused(tmp_path: Path, sign: str) -> None:
    """It was read as one of the forward strand. Other genes of the file can be used."""
    text = GTF.replace("\t-\t", f"\t{sign}\t")
    annotation = read_annotation(written(tmp_path / "a.gtf", text))
    with pytest.raises(InputError, match=r"a.gtf: 'TWO' has no strand; write \+ or - in column 7"):
        annotation.gene("TWO")
    assert annotation.gene("ONE").exons == (Exon(100, 250), Exon(400, 500))
    stretch = int(annotation.coding(np.array(["chr2"]), np.array([10]))[0])
    assert annotation.gene_of(stretch).exons == (Exon(10, 40), Exon(60, 80))
    mixed = text.replace(f"80\t.\t{sign}", "80\t.\t-")
    with pytest.raises(InputError, match=rf"chr2 \([{sign}.]\)"):
        read_annotation(written(tmp_path / "a.gtf", mixed)).gene("TWO")


@pytest.mark.parametrize("columns", ["", "\t0", "\t0\t.", "\t0\t"])
def test_a_gene_of_bed_without_a_strand_is_refused(tmp_path: Path, columns: str) -> None:
    """It was read as one of the forward strand. Off-targets in it are found as before."""
    text = "".join(f"chr1\t{start}\t{start + 40}\tTWO{columns}\n" for start in (100, 200))
    annotation = read_annotation(written(tmp_path / "a.bed", text + BED))
    with pytest.raises(InputError, match=r"a.bed: 'TWO' has no strand; write .* BED .* column 6"):
        annotation.gene("TWO")
    assert annotation.gene("ONE").strand == 1
    assert annotation.coding(np.array(["chr1"]), np.array([210])).tolist() == [1]


def test_joined() -> None:
    exons = [Exon(5, 9), Exon(0, 3), Exon(3, 4), Exon(6, 7)]
    assert joined(exons) == [Exon(0, 4), Exon(5, 9)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense\n", "line 1: is neither GTF"),
        ("c\tx\tCDS\tten\t9\t.\t+\t.\tgene_id 1\n", "line 1: is neither GTF"),
        (
            "c\tx\tCDS\t10\t9\t.\t+\t.\tgene_id 1\n",
            "line 1: its end 9 lies before its start 10; correct the line",
        ),
        ("c\tx\tCDS\t0\t9\t.\t+\t.\tgene_id 1\n", "line 1: its start is 0, and places of GTF"),
        ("c\t560\t501\tTHREE\n", "line 1: its end 501 lies before its start 560; correct the"),
        ("c\t5\t5\tTHREE\n", "has no line CDS or exon"),
        ("c 1 9 THREE 0 +\n", "line 1: its columns are separated by blanks; separate them by tabs"),
        (
            BED.replace("\t2\t", "\t3\t"),
            "line 1: has blocks: 3 by column 10, 2 sizes, 2 starts; correct the line",
        ),
        (BED.replace("\t2\t", "\t1\t"), "line 1: has blocks: 1 by column 10, 2 sizes, 2 st"),
        (BED.replace("0,300,", "0,300,400"), "line 1: has blocks: 2 by column 10, 2 sizes, 3 st"),
        (
            "".join(f"c{n}\t1\t9\tTHREE\t0\t-\n" for n in (2, 7, 1, 5, 4, 3)),
            r"coding sequences on c2 \(-\), c7 \(-\), c1 \(-\), c5 \(-\), c4 \(-\), c3 \(-\); name",
        ),
        ("PK\x03\x04", "is a ZIP archive, or an Excel workbook; unpack it"),
        ("# nothing\n", "has no line CDS or exon"),
        (GTF, "has no coding sequence of a gene 'THREE'; it has genes such as ONE, TWO"),
        ("c\t1\t9\tTHREE\t0\t+\nd\t1\t9\tTHREE\t0\t+\n", r"coding sequences on .*c \(\+\)"),
    ],
)
def test_what_cannot_be_used(tmp_path: Path, text: str, words: str) -> None:
    path = written(tmp_path / "a.txt", text)
    with pytest.raises(InputError, match=words):
        read_annotation(path).gene("THREE")
