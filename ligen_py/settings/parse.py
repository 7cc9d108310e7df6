"""How input records become ligands."""

from typing import Literal

from pydantic import Field, field_validator

from ligen_py.records.limits import MAX_ATOMS, MAX_TORSIONS
from ligen_py.settings.section import Column, Columns, Section, from_json

Property = Literal[
    "weight", "logp", "donors", "acceptors", "tpsa", "rotatable", "rings", "heavy", "charge"
]
"""Properties of a molecule for which `parse` can require a range."""


class ParseSettings(Section):
    """How input records become ligands: the states of each molecule, ready to dock."""

    max_atoms: int = Field(
        MAX_ATOMS, ge=1, le=MAX_ATOMS, description="largest ligand, in atoms with hydrogens"
    )
    max_torsions: int = Field(
        MAX_TORSIONS, ge=0, le=MAX_TORSIONS, description="most rotatable bonds of a ligand"
    )
    standardise: bool = Field(
        True, description="neutral parent without salts, solvents and isotopes; false: as drawn"
    )
    mixtures: Literal["largest", "reject"] = Field(
        "largest", description="dock the largest component of a mixture, or reject the record"
    )
    protonate: bool = Field(True, description="protonation states at 'ph'; false: as given")
    ph: float = Field(7.4, ge=0, le=14, description="pH of the protonation states")
    min_population: float = Field(
        0.05,
        ge=0,
        le=1,
        description="protonation states with a smaller share of the molecules are not docked",
    )
    protomers: int = Field(4, ge=1, le=64, description="most protonation states of a tautomer")
    tautomers: int = Field(1, ge=1, le=64, description="most tautomers, the one drawn among them")
    stereoisomers: int = Field(
        4, ge=1, le=64, description="most stereoisomers of a molecule with undefined centres"
    )
    conformers: int = Field(
        4, ge=1, le=64, description="most start conformers of a state, one for each shape of rings"
    )
    macrocycle_conformers: int = Field(
        8, ge=1, le=64, description="the same for molecules with a ring of eight atoms or more"
    )
    max_strain: float = Field(
        6.0,
        ge=0,
        le=1000,
        description="largest strain of a start conformer's rings above their lowest shapes, but "
        "for those of macrocycles, in kcal/mol",
    )
    embed: Literal["never", "missing", "always"] = Field(
        "missing",
        description="make 3-D coordinates for no record, for records without, or for all",
    )
    seed: int = Field(1, ge=0, le=2**31 - 1, description="seed of conformers and stereoisomers")
    time_limit: float = Field(
        20.0,
        gt=0,
        le=3600,
        description="longest processor time for one molecule, in seconds; beyond it one state and "
        "conformer are tried, so this depends on the machine",
    )
    memory_limit: int = Field(
        1000, ge=100, le=1_000_000, description="most memory for one molecule, in MiB"
    )
    properties: dict[Property, tuple[float, float]] = Field(
        default_factory=dict,
        description="lowest and highest value of properties",
    )
    alerts: tuple[Literal["pains", "brenk", "nih", "zinc"], ...] = Field(
        (), description="catalogues of structural alerts; molecules with one are rejected"
    )
    exclude: dict[str, str] = Field(
        default_factory=dict,
        description="names and SMARTS of patterns; molecules with one are rejected",
    )

    _mappings = field_validator("properties", "exclude", mode="before")(from_json)

    @field_validator("properties")
    @classmethod
    def _in_order(cls, value: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
        for name, (low, high) in value.items():
            if low > high:
                raise ValueError(f"the range of '{name}' must be [lowest, highest]")
        return value


AS_GIVEN = {
    "standardise": False,
    "protonate": False,
    "protomers": 1,
    "tautomers": 1,
    "stereoisomers": 1,
    "conformers": 1,
    "macrocycle_conformers": 1,
}
"""Settings that leave a molecule as it is given, in one state and conformer."""


class Reading(Section):
    """Which columns of a library are read."""

    smiles_column: Column = Field(
        "", description="column of the SMILES, by name or number; default: by the header"
    )
    name_column: Column = Field(
        "", description="column or SD data item of the name; default: by the header"
    )
    columns: Columns = Field(
        ("all",),
        description="further columns that are exported with the results: their names, all or none",
    )


class ParseOptions(ParseSettings, Reading):
    """All settings of the parse stage: section `parse`, and the library's columns."""
