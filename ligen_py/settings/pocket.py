"""How a receptor becomes a pocket, and where its site is."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from ligen_py.settings.section import Column, Section, from_json


class PocketSettings(Section):
    """How a receptor becomes a pocket."""

    radius: float = Field(
        10.0,
        ge=4,
        le=30,
        description="half side of the cubic box, in Angstrom, where the site has none",
    )
    spacing: float = Field(0.5, ge=0.2, le=1.0, description="grid spacing, in Angstrom")
    margin: float = Field(
        8.0,
        ge=0,
        le=20,
        description="receptor atoms up to this far outside the box are scored, in Angstrom",
    )
    cofactor_distance: float = Field(
        6.0,
        ge=0,
        le=20,
        description="cofactors, metals, ions at most this far from the box are kept, in Angstrom",
    )
    waters: Literal["none", "all", "near"] = Field(
        "none", description="waters to keep; near: by the two keys that follow"
    )
    water_distance: float = Field(
        4.0,
        ge=0,
        le=20,
        description="waters at most this far from the reference ligand, or from the box where "
        "there is none, in Angstrom",
    )
    water_contacts: int = Field(
        3,
        ge=0,
        le=12,
        description="fewest polar receptor atoms within 3.5 Angstrom of such a water",
    )
    protonation: Literal["given", "propka"] = Field(
        "given",
        description="hydrogens: those of the file, else standard states; or by PDB2PQR with PROPKA",
    )
    ph: float = Field(7.4, ge=0, le=14, description="pH for propka")
    max_anchors: int = Field(16, ge=1, le=256, description="most points at which ligands start")
    anchor_separation: float = Field(
        4.0, ge=0, le=20, description="least distance between two anchors, in Angstrom"
    )


Triple = tuple[float, float, float]

Residue = Annotated[str, Field(pattern=r"^[^/\s]+(/[^/\s]+){0,2}$")]
"""Residues of a structure: name, chain/number or chain/name/number, as audits write them."""


MOLECULE_FILES = (".sdf", ".mol", ".mol2")
"""Endings of files with one molecule; no SMILES has them."""


class Structure(Section):
    """Which parts of a structure file belong to the receptor."""

    chains: tuple[str, ...] = Field(
        (),
        description="chains to keep, with their cofactors and metals, as named in the file (mmCIF: "
        "by the authors; _ for a chain without a name); default: all",
    )
    model: int | None = Field(None, ge=0, description="number of the model; default: the first")
    assembly: Column | None = Field(
        None, description="biological assembly to build, as named in the file; default: none"
    )
    keep: tuple[Residue, ...] = Field(
        (), description="residues to keep regardless of the rules, such as A/HOH/301, A/301 or SO4"
    )
    drop: tuple[Residue, ...] = Field((), description="residues to drop regardless of the rules")
    cofactors: dict[str, str] = Field(
        default_factory=dict,
        description="residue names and SMILES, or files (SDF, MOL, MOL2), with their charges, of "
        "cofactors that are not in the table",
    )

    _mapping = field_validator("cofactors", mode="before")(from_json)

    @field_validator("cofactors")
    @classmethod
    def _capitals(cls, value: dict[str, str]) -> dict[str, str]:
        return {name.upper(): smiles for name, smiles in value.items()}

    @property
    def cofactor_files(self) -> dict[str, str]:
        """Residue names and files, of the cofactors that are given as files."""
        return {
            name: given
            for name, given in self.cofactors.items()
            if given.lower().endswith(MOLECULE_FILES)
        }


class Site(Section):
    """Where to dock: the middle of the box by one of five keys, and its size."""

    ligand: str | None = Field(
        None, description="file of a reference ligand: SDF, MOL, MOL2, PDB or PDBQT, plain or .gz"
    )
    ligand_name: Residue | None = Field(
        None, description="reference ligand within the structure: its name, or chain/name/number"
    )
    residues: tuple[Residue, ...] = Field(
        (), description="residues that line the site, such as A/ASP/32 or A/32"
    )
    center: Triple | None = Field(None, description="box centre, in Angstrom")
    cavity: int | None = Field(
        None, ge=1, description="rank of a cavity, as --list shows them; 1 is the best"
    )
    cavities: str | None = Field(
        None,
        description="file of cavities by P2Rank (*_predictions.csv) or fpocket (*_info.txt)",
    )
    radius: float | None = Field(
        None,
        ge=4,
        le=30,
        description="half side of this site's cubic box, in Angstrom; default: the radius of the "
        "pocket settings",
    )
    size: Triple | None = Field(
        None, description="sides of a box, in Angstrom; the smallest cube around it is used"
    )

    KINDS: ClassVar = ("ligand", "ligand_name", "residues", "center", "cavity")
    FLAGS: ClassVar = {"radius": "--site-radius", "size": "--site-size"}

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if sum(getattr(self, kind) not in (None, ()) for kind in self.KINDS) != 1:
            raise ValueError("give one of 'ligand', 'ligand_name', 'residues', 'center', 'cavity'")
        if self.cavities is not None and self.cavity is None:
            raise ValueError(
                "'cavities' is a file of cavities; give the rank of one as 'cavity', too"
            )
        if self.radius is not None and self.size is not None:
            raise ValueError("give either 'radius' or 'size'")
        if self.size is not None and not (min(self.size) > 0 and 8 <= max(self.size) <= 60):
            sides = " ".join(f"{side:g}" for side in self.size)
            raise ValueError(
                f"the longest side of 'size' must be 8 to 60 Angstrom, none 0; it is {sides}"
            )
        return self
