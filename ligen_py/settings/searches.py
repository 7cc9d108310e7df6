"""Searches of sequences as a config file has them: files, and the settings of their stages."""

from typing import Self

from pydantic import Field, model_validator

from ligen_py.settings.best import BestSettings
from ligen_py.settings.guides import GuidesSettings
from ligen_py.settings.homologs import HomologsSettings, PanelSettings
from ligen_py.settings.offtargets import IN_INPUT, OfftargetsSettings
from ligen_py.settings.pocket import Site, Structure
from ligen_py.settings.section import Name


class AntiTarget(Structure):
    """A structure of an anti-target, and where to dock."""

    receptor: str = Field(description="structure file: PDB or mmCIF, plain or .gz")
    site: Site = Field(description="where to dock")


class HomologSearch(HomologsSettings, PanelSettings, BestSettings):
    """Homologs of some proteins, or of a target's receptor, in a database."""

    query: str | None = Field(None, description="FASTA file, plain or compressed")
    target: Name | None = Field(
        None, description="target whose receptor's chains are the queries, in place of a file"
    )
    database: str = Field(description="FASTA file, plain or compressed, or a database file")
    chunks: int = Field(1, ge=1, le=10_000, description="parts of the database, a job each")
    structures: dict[Name, AntiTarget] = Field(
        {}, description="structures of anti-targets, by their accession in panel.tsv"
    )

    @model_validator(mode="after")
    def _one_query(self) -> Self:
        if (self.query is None) == (self.target is None):
            raise ValueError("give either 'query' or 'target'")
        if self.structures and self.target is None:
            raise ValueError("'structures' are docked with the best ligands of a 'target'")
        # By its value: a campaign's kept config has every key.
        if not self.structures and self.best != BestSettings().best:
            raise ValueError(
                "'best' counts ligands that are docked into 'structures'; give these and a "
                "'target', or leave 'best' out"
            )
        return self


class OfftargetSearch(OfftargetsSettings):
    """Off-targets of some guides in a genome."""

    input: str | None = Field(
        None, description="input file of Cas-OFFinder, in place of genome, guides and pattern"
    )
    genome: str | None = Field(
        None, description="FASTA or .2bit file, plain or compressed, or a folder of them"
    )
    guides: str | None = Field(
        None, description="guides: FASTA, or a table of id, sequence and perhaps mismatch limit"
    )
    chunks: int = Field(1, ge=1, le=10_000, description="parts of the genome, a job each")

    @model_validator(mode="after")
    def _one_query(self) -> Self:
        if (self.input is None) == (self.guides is None):
            raise ValueError("give either 'input' or 'guides'")
        if self.guides is not None and self.genome is None:
            raise ValueError("'guides' need a 'genome'")
        told = set(IN_INPUT) & self.model_fields_set
        if self.input is not None and told:
            raise ValueError(f"'{min(told)}' stands in the file of 'input'; leave it out")
        return self


class GuideDesign(GuidesSettings):
    """Guides for a gene, from its coding sequence or its place in a genome."""

    genome: str = Field(description="FASTA or .2bit file, plain or compressed, or a folder of them")
    cds: str | None = Field(None, description="FASTA file of the gene's coding sequence")
    gene: str | None = Field(
        None, description="gene or transcript of the annotation, in place of a coding sequence"
    )
    annotation: str | None = Field(
        None, description="GTF, GFF3 or BED file: exons, and off-targets within coding sequence"
    )
    chunks: int = Field(1, ge=1, le=10_000, description="parts of the genome, a job each")

    @model_validator(mode="after")
    def _one_gene(self) -> Self:
        if (self.cds is None) == (self.gene is None):
            raise ValueError("give either 'cds' or 'gene'")
        if self.gene is not None and self.annotation is None:
            raise ValueError("'gene' needs an 'annotation'")
        return self
