"""Everything a campaign can be told, written once.

A section of the config file, the flags of a stage, the JSON schema and the settings attribute of
every result file are all derived from these models. Hardware never stands here: devices, threads
and folders come from the command line and from profiles.
"""

import difflib
import json
import shlex
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args

import pydantic
import yaml
from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from ligen_py.errors import InputError

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
"""A target or library name: it becomes part of file names, so letters, digits, _ . - only."""


class Section(pydantic.BaseModel):
    """Frozen, and closed: an unknown key is an error, never ignored."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def from_json(value: Any) -> Any:
    """A mapping that came as text from the command line; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON such as '{{\"name\": ...}}' ({error})") from error


Property = Literal[
    "weight", "logp", "donors", "acceptors", "tpsa", "rotatable", "rings", "heavy", "charge"
]
"""Properties of a molecule that `parse` can ask to lie in a range."""

Weight = Annotated[float, Field(ge=0, le=100)]


class ParseSettings(Section):
    """How input records become ligands: the states of each molecule, ready to dock."""

    max_atoms: int = Field(256, ge=1, le=256, description="largest ligand, in atoms with hydrogens")
    max_torsions: int = Field(64, ge=0, le=64, description="most rotatable bonds of a ligand")
    standardise: bool = Field(
        True, description="neutral parent without salts, solvents and isotopes; false: as drawn"
    )
    mixtures: Literal["largest", "reject"] = Field(
        "largest", description="dock the largest component of a mixture, or reject the record"
    )
    protonate: bool = Field(True, description="protonation states at 'ph'; false: as given")
    ph: float = Field(7.4, ge=0, le=14, description="pH of the protonation states")
    ph_range: float = Field(
        0.5, ge=0, le=7, description="groups with a pKa this near to 'ph' are taken in both forms"
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
    embed: Literal["never", "missing", "always"] = Field(
        "missing",
        description="make 3-D coordinates for no record, where the input has none, or for all",
    )
    seed: int = Field(1, ge=0, le=2**31 - 1, description="seed of conformers and stereoisomers")
    time_limit: float = Field(
        20.0, gt=0, le=3600, description="longest processor time for one molecule, in seconds"
    )
    memory_limit: int = Field(
        1000, ge=100, le=1_000_000, description="most memory for one molecule, in MiB"
    )
    properties: dict[Property, tuple[float, float]] = Field(
        default_factory=dict,
        description="lowest and highest value of properties; on the command line as JSON",
    )
    alerts: tuple[Literal["pains", "brenk", "nih", "zinc"], ...] = Field(
        (), description="catalogues of structural alerts; molecules with one are rejected"
    )
    exclude: dict[str, str] = Field(
        default_factory=dict,
        description="names and SMARTS of patterns; molecules with one are rejected; on the "
        "command line as JSON",
    )

    _mappings = field_validator("properties", "exclude", mode="before")(from_json)

    @field_validator("properties")
    @classmethod
    def _in_order(cls, value: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
        for name, (low, high) in value.items():
            if low > high:
                raise ValueError(f"the range of '{name}' must be [lowest, highest]")
        return value


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
        description="cofactors, metals, ions this near to the box are kept, in Angstrom",
    )
    waters: Literal["none", "all", "near"] = Field(
        "none", description="waters to keep; near: by the two keys that follow"
    )
    water_distance: float = Field(
        4.0,
        ge=0,
        le=20,
        description="waters this near to the reference ligand, or to the box where there is none, "
        "in Angstrom",
    )
    water_contacts: int = Field(
        3, ge=0, le=12, description="least polar receptor atoms within 3.5 Angstrom of such a water"
    )
    protonation: Literal["given", "propka"] = Field(
        "given",
        description="hydrogens for AutoDock4: those of the file, else standard states; or by "
        "PDB2PQR with PROPKA",
    )
    ph: float = Field(7.4, ge=0, le=14, description="pH for propka")
    max_anchors: int = Field(16, ge=1, le=256, description="most points at which ligands start")
    anchor_separation: float = Field(
        4.0, ge=0, le=20, description="least distance between two anchors, in Angstrom"
    )


class DockSettings(Section):
    """LiGen's Algorithm 1: restarts, iterations and angles of the geometric search."""

    num_restart: int = Field(1024, ge=1, le=4096, description="starting poses per ligand")
    num_iterations: int = Field(3, ge=0, le=64, description="passes over all fragments")
    n_angles: int = Field(32, ge=4, le=256, description="angles tried per fragment and axis")
    bump_tests: int = Field(
        4, ge=1, le=256, description="best angles of a fragment tested for internal bumps"
    )
    bump_tolerance: float = Field(
        0.75, gt=0, le=1, description="a pair bumps nearer than this share of its Bondi radii"
    )
    max_num_poses: int = Field(
        192,
        ge=0,
        le=4096,
        description="poses kept per ligand for the filter, the best by bumps and score; 0: all",
    )


class FilterSettings(Section):
    """Which poses are worth a chemical score."""

    max_num_poses: int = Field(64, ge=1, le=4096, description="poses kept per ligand")
    max_pocket_bumps: int = Field(
        1, ge=0, le=256, description="atoms that may lie in the receptor's core in a bump-free pose"
    )
    cluster_rmsd: float = Field(
        1.0,
        ge=0,
        le=20,
        description="poses nearer than this heavy-atom RMSD are one cluster, in Angstrom",
    )


class RefineSettings(Section):
    """How far kept poses are refined in a chemical field, and which results are kept."""

    rounds: int = Field(
        20, ge=0, le=10_000, description="local minima visited from each pose; 0: it stays as it is"
    )
    evaluations: int = Field(
        30, ge=1, le=1000, description="most energy evaluations of one descent to a minimum"
    )
    temperature: float = Field(
        1.2,
        gt=0,
        le=100,
        description="a minimum this much worse is taken one time in e, in kcal/mol",
    )
    amplitude: float = Field(
        2.0, gt=0, le=10, description="largest random change between two minima, in Angstrom"
    )
    finalists: int = Field(
        0,
        ge=0,
        le=4096,
        description="best poses of a first descent that go on; 0: all go on, without a first one",
    )
    field: Literal["vina", "vinardo", "ad4", "xscore"] = Field(
        "vina", description="scoring function of the field"
    )
    spacing: float = Field(
        0.375, ge=0.2, le=1.0, description="the field's grid spacing, in Angstrom"
    )
    max_num_poses: int = Field(30, ge=1, le=4096, description="refined poses kept per ligand")
    cluster_rmsd: float = Field(
        1.0,
        ge=0,
        le=20,
        description="of poses nearer than this heavy-atom RMSD the best is kept, in Angstrom",
    )
    seed: int = Field(1, ge=0, le=2**31 - 1, description="seed of the random changes")


class ScoreSettings(Section):
    """Which scoring functions are evaluated, and how they choose poses and rank molecules."""

    functions: tuple[Literal["xscore", "vina", "vinardo", "ad4"], ...] = Field(
        ("vina", "ad4", "xscore"),
        min_length=1,
        description="scoring functions, one column a term",
    )
    rank_by: Literal["energy", "first"] = Field(
        "energy",
        description="what a molecule's score is: the energy that chooses its pose, over what "
        "torsions and size add to it, or the first function's value",
    )
    check_every: int = Field(
        1000,
        ge=0,
        le=1_000_000_000,
        description="one best pose in so many, 20 at least, is scored again by the NumPy twin; "
        "0: none",
    )
    max_suspect: float = Field(
        0.5,
        ge=0,
        le=1,
        description="a chunk with a larger share of unbelievable scores fails",
    )
    pose_weights: dict[Literal["xscore", "vina", "vinardo", "ad4"], Weight] = Field(
        {"vina": 1.0, "ad4": 0.5},
        description="weights of the functions' energies in the choice of a ligand's pose, and in "
        "its score; on the command line as JSON",
    )

    _weights = field_validator("pose_weights", mode="before")(from_json)


PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "draft": {
        "parse": {"conformers": 1},
        "dock": {"num_restart": 256, "max_num_poses": 96},
        "filter": {"max_num_poses": 48},
        "refine": {"rounds": 6, "evaluations": 20, "finalists": 6, "max_num_poses": 6},
        "score": {"functions": ["vina", "ad4"]},
    },
    "standard": {},
    "thorough": {
        "dock": {"num_restart": 4096, "max_num_poses": 1024},
        "filter": {"max_num_poses": 256, "cluster_rmsd": 0.5},
        "refine": {"rounds": 100, "max_num_poses": 50},
    },
}
"""Effort -> section -> what differs from the sections' defaults, which are `standard`."""


class Method(Section):
    """How ligands are made, docked and scored: an effort, and what is set otherwise, by key."""

    effort: Literal["draft", "standard", "thorough"] = Field(
        "standard",
        description="preset that fills what parse, dock, filter, refine and score leave out",
    )
    parse: ParseSettings = Field(default_factory=ParseSettings)
    dock: DockSettings = Field(default_factory=DockSettings)
    filter: FilterSettings = Field(default_factory=FilterSettings)
    refine: RefineSettings = Field(default_factory=RefineSettings)
    score: ScoreSettings = Field(default_factory=ScoreSettings)

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, values: Any) -> Any:
        effort = values.get("effort", "standard") if isinstance(values, dict) else None
        filled = {}
        for section, preset in PRESETS.get(effort, {}).items() if isinstance(effort, str) else ():
            given = values.get(section, {})
            if isinstance(given, dict):
                filled[section] = preset | given
        return values | filled if filled else values


class AggregateSettings(Section):
    """What the campaign file holds beside every score."""

    rank_by: Literal["score", "consensus"] = Field(
        "score",
        description="rank by the score, or by the mean of the ranks by all scoring functions",
    )
    top_poses: int = Field(
        1000, ge=1, le=1_000_000, description="ligands per target whose best pose is stored"
    )
    max_drift: float = Field(
        0.9,
        ge=0,
        le=1,
        description="a chunk whose scores lie further than this from those of the first chunks "
        "(Kolmogorov-Smirnov distance) fails the campaign",
    )


class ExportSettings(Section):
    """What is written for people and other programs."""

    count: int = Field(100, ge=1, le=1_000_000, description="best ligands per target to write")


class ReportSettings(Section):
    """What the report shows, and which molecules it follows through the ranking."""

    top: int = Field(10, ge=1, le=1000, description="best ligands per target to show")
    groups: dict[Name, tuple[str, ...]] = Field(
        default_factory=dict,
        description="groups of molecule names whose ranks are told; on the command line as JSON",
    )

    _groups = field_validator("groups", mode="before")(from_json)


def _column(value: Any) -> Any:
    """A column, or an assembly, may be told by its number."""
    return str(value) if type(value) is int else value


def _columns(value: Any) -> Any:
    """A single word stands for a list of one, and an empty list for none."""
    if isinstance(value, list | tuple):
        return tuple(_column(item) for item in value) or ("none",)
    return (value,) if isinstance(value, str) else value


Column = Annotated[str, BeforeValidator(_column), WithJsonSchema({"type": ["string", "integer"]})]
Columns = Annotated[
    tuple[str, ...],
    BeforeValidator(_columns),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["all", "none"]},
                {"type": "array", "items": {"type": ["string", "integer"]}},
            ]
        }
    ),
]


Triple = tuple[float, float, float]
Residue = Annotated[str, Field(pattern=r"^[^/\s]+(/[^/\s]+){0,2}$")]
"""Residues of a structure: name, chain/number or chain/name/number, as audits write them."""


class Structure(Section):
    """What of a structure file belongs to the receptor."""

    chains: tuple[str, ...] = Field(
        (),
        description="chains to keep, with their cofactors and metals, as named in the file (mmCIF: "
        "by the authors; _ for a chain without a name); none named: all",
    )
    model: int | None = Field(None, ge=0, description="number of the model; default: the first")
    assembly: Column | None = Field(
        None, description="biological assembly to build, as named in the file; default: none"
    )
    keep: tuple[Residue, ...] = Field(
        (), description="residues to keep whatever the rules say, such as A/HOH/301, A/301 or SO4"
    )
    drop: tuple[Residue, ...] = Field((), description="residues to drop whatever the rules say")


class Site(Section):
    """Where to dock: the middle of the box by one of five keys, and its size."""

    ligand: str | None = Field(
        None, description="file of a reference ligand: SDF, PDB or MOL2, plain or .gz"
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
        description="take the cavity from this file of P2Rank (*_predictions.csv) or fpocket "
        "(*_info.txt)",
    )
    radius: float | None = Field(
        None,
        ge=4,
        le=30,
        description="half side of this site's cubic box, in Angstrom; default: the radius of the "
        "pocket settings",
    )
    size: Triple | None = Field(
        None, description="sides of a box, in Angstrom; the cube that holds it is used"
    )

    KINDS: ClassVar = ("ligand", "ligand_name", "residues", "center", "cavity")
    FLAGS: ClassVar = {"radius": "--site-radius", "size": "--site-size"}

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if sum(getattr(self, kind) not in (None, ()) for kind in self.KINDS) != 1:
            raise ValueError("give one of 'ligand', 'ligand_name', 'residues', 'center', 'cavity'")
        if self.cavities is not None and self.cavity is None:
            raise ValueError("'cavities' is a file to take 'cavity' from; give its rank, too")
        if self.radius is not None and self.size is not None:
            raise ValueError("give either 'radius' or 'size'")
        if self.size is not None and not (min(self.size) > 0 and 8 <= max(self.size) <= 60):
            raise ValueError("the longest side of 'size' must be 8 to 60 Angstrom, none 0")
        return self


class Target(Structure):
    """A receptor and one site or several."""

    receptor: str | Annotated[dict[Name, str], Field(min_length=1)] = Field(
        description="structure file: PDB or mmCIF, plain or .gz; or several conformations by name"
    )
    site: Site | None = Field(None, description="where to dock")
    sites: dict[Name, Site] = Field(
        default_factory=dict, description="several sites by name, each a target of its own"
    )

    @model_validator(mode="after")
    def _some_site(self) -> Self:
        if (self.site is None) == (not self.sites):
            raise ValueError("give either 'site' or 'sites'")
        return self


class Reading(Section):
    """Which columns of a library are read."""

    smiles_column: Column = Field(
        "", description="column of the SMILES, by name or number; left out: by the header"
    )
    name_column: Column = Field(
        "", description="column or SD data item of the name; left out: by the header"
    )
    columns: Columns = Field(
        ("all",), description="further columns carried to the results: their names, all or none"
    )


class Library(Reading):
    """Molecules: one file, a folder or a glob; or the ligands of a library parsed before."""

    file: str | None = Field(
        None,
        description="file, folder or glob: SMILES, CSV, Parquet, SDF or MOL2, plain or compressed",
    )
    parsed: str | None = Field(
        None, description="folder results/ligands/LIBRARY of another campaign, in place of a file"
    )
    chunk_size: int = Field(
        20_000,
        ge=1,
        le=100_000_000,
        description="molecules of one part, about: files are cut by their size",
    )
    chunks: int | None = Field(
        None, ge=1, le=10_000, description="parts of each file, in place of chunk_size"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.file is None) == (self.parsed is None):
            raise ValueError("give either 'file' or 'parsed'")
        unused = self.model_fields_set - {"file", "parsed"}
        if self.parsed is not None and unused:
            raise ValueError(f"'{min(unused)}' was decided when the library was parsed; leave out")
        return self


class ParseOptions(ParseSettings, Reading):
    """Everything the parse stage is told: section `parse`, and the library's columns."""


class Campaign(Method):
    """The whole config file."""

    targets: dict[Name, Target] = Field(min_length=1, description="receptors by name")
    libraries: dict[Name, Library] = Field(min_length=1, description="libraries by name")
    duplicates: Literal["chunk", "campaign"] = Field(
        "chunk",
        description="dock a molecule once in each part, or once in the campaign, for which parts "
        "are parsed one after the other",
    )
    pocket: PocketSettings = Field(default_factory=PocketSettings)
    aggregate: AggregateSettings = Field(default_factory=AggregateSettings)
    export: ExportSettings = Field(default_factory=ExportSettings)
    report: ReportSettings = Field(default_factory=ReportSettings)


def load_campaign(path: Path) -> Campaign:
    """Read and check a campaign's config file.

    Raises InputError that names the file, the key and what is allowed there.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); give a campaign's config file"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, dict):
        raise InputError(f"{path}: holds no settings; see config/README.md for every key")
    return check(Campaign, document, str(path))


Model = TypeVar("Model", bound=pydantic.BaseModel)


def check(model: type[Model], values: dict[str, Any], where: str) -> Model:
    """Validate values against a settings model; InputError names `where` and each bad key."""
    try:
        return model.model_validate(values)
    except pydantic.ValidationError as error:
        sentences = [f"{where}: {_sentence(model, item)}" for item in error.errors()]
        raise InputError("; ".join(sentences)) from error


def _sentence(model: type[pydantic.BaseModel], error: Any) -> str:
    """Turn one pydantic error into words that name the key and say what is allowed."""
    path = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        known = _keys_at(model, error["loc"][:-1])
        close = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known keys are: {', '.join(known)}"
        return f"unknown key '{path}'; {hint}"
    if error["type"] == "missing":
        return f"key '{path}' is missing"
    value = "" if isinstance(error["input"], dict) else f" (given: {error['input']!r})"
    message = error["msg"].removeprefix("Value error, ")
    field = _field_at(model, error["loc"])
    meaning = f"; it is: {field.description}" if field is not None and field.description else ""
    return f"key '{path}': {message[0].lower()}{message[1:]}{value}{meaning}"


def _models_in(annotation: Any) -> list[type[pydantic.BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _walk(model: type[pydantic.BaseModel], loc: tuple[Any, ...]) -> tuple[Any, Any]:
    """Follow a key path; return the last model and the last field met."""
    field = None
    for part in loc:
        if isinstance(part, str) and part in model.model_fields:
            field = model.model_fields[part]
            nested = _models_in(field.annotation)
            model = nested[0] if nested else model
    return model, field


def _keys_at(model: type[pydantic.BaseModel], loc: tuple[Any, ...]) -> list[str]:
    return list(_walk(model, loc)[0].model_fields)


def _field_at(model: type[pydantic.BaseModel], loc: tuple[Any, ...]) -> Any:
    return _walk(model, loc)[1]


def flag(model: type[Section], name: str) -> str:
    """The command-line flag of a setting: num_restart -> --num-restart."""
    renamed: dict[str, str] = getattr(model, "FLAGS", {})
    return renamed.get(name, "--" + name.replace("_", "-"))


def flags(section: Section) -> str:
    """A section as command-line flags, for the rules and for logs: every setting with a value."""
    words = []
    for name, value in section.model_dump(mode="json").items():
        values = value if isinstance(value, list) else [] if value is None else [value]
        if values:
            words += [flag(type(section), name), *map(_word, values)]
    return shlex.join(words)


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f")  # argparse takes -1e-05 for a flag
    return str(value)


def schema() -> str:
    """The JSON schema of the config file, as stored in workflow/config.schema.json."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(document | Campaign.model_json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    print(schema(), end="")
