"""How a kernel is built and launched on a device: the rows of kernels/tuned/*.json.

A row holds what `ligen tune` found fastest. It changes speed only, never a result, so
it is no part of a stage's digest. Files are named by what they are for; of device, architecture,
vendor and default the first that says something counts, setting by setting.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ligen_py.errors import DeviceError, InputError
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Program, Structs, build
from ligen_py.paths import kernel_folder

LOOK_UPS = ("rows", "bricks", "image")
"""How the field is stored (LOOK_UP in kernels/include/field.clh)."""

LANES = (8, 16, 32, 64)
"""Lanes of a sub-group that docking may take, up to those of the device. Intel's runtime has 64
too, but 32 angles leave half of it idle, and two such sub-groups with a barrier between them gave
wrong results."""

EVERY = "all"
"""The key of settings for every atom class of a kernel, and for every kernel of a file."""

REMEDY = "correct it, or remove the file and tune again"

MOST = 1024
"""Of any setting that is a number."""


@dataclass(frozen=True)
class Tuning:
    """What may be chosen for one kernel file and atom class.

    `lanes` 0 means the device's, `queues` 0 leaves it to the kind of device, `registers` 0 means no
    cap, and `poses_per_item` 0 means that a sub-group takes as many restarts in turn as keep the
    device full.
    """

    lanes: int = 0
    sub_groups: int = 1
    unroll: int = 2
    look_up: str = "rows"
    registers: int = 0
    poses_per_item: int = 0
    queues: int = 0

    def definitions(self) -> dict[str, object]:
        """Macros of the docking kernels, beside that of `sub_groups`."""
        return {
            "SG_SIZE": self.lanes,
            "UNROLL": self.unroll,
            "LOOK_UP": LOOK_UPS.index(self.look_up),
        }

    def on(self, device: Device) -> "Tuning":
        """The same with the device's lanes, where it leaves them to the device."""
        return replace(self, lanes=self.lanes or device.sub_group_size)

    def fault_on(self, back_end: str, sub_group_size: int, kernel: str) -> str | None:
        """Why a kernel file cannot be used so with a device's sub-groups, in words, or None."""
        if self.look_up not in LOOK_UPS:
            return f"look_up {self.look_up!r}: one of {', '.join(LOOK_UPS)}"
        whole = {k: v for k, v in asdict(self).items() if k != "look_up"}
        for name, value in whole.items():
            least = 1 if name in ("sub_groups", "unroll") else 0
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
                return f"{name} {value!r}: a whole number from {least} to {MOST}"
        if self.lanes not in (0, *LANES):
            return f"lanes {self.lanes}: one of {', '.join(map(str, LANES))}, or 0"
        fixed = back_end == "ptx" or not kernel.endswith("dock.cl")
        if self.lanes > sub_group_size or (fixed and self.lanes not in (0, sub_group_size)):
            return f"lanes {self.lanes}: here a sub-group has {sub_group_size}"
        if self.sub_groups > 1 and back_end == "local" and not kernel.startswith("latency/"):
            return f"sub_groups {self.sub_groups}: here a work-group is one sub-group"
        return None


def slug(text: str) -> str:
    """Words as they stand in a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def vendor(device: Device) -> str:
    """Who made the runtime: nvidia, intel, pocl, ..."""
    platform = device.handle.platform.name
    if "Portable Computing Language" in platform:
        return "pocl"
    return slug(platform.replace("(R)", "")).split("-")[0]


def names(device: Device) -> dict[str, str]:
    """Names of the files to look in, most special first: device, architecture, vendor, default."""
    maker = vendor(device)
    name = slug(device.handle.name)
    if device.back_end == "ptx":
        major = int(device.handle.compute_capability_major_nv)
        architecture = f"nvidia-sm_{major}{int(device.handle.compute_capability_minor_nv)}"
    else:
        architecture = f"{maker}-{device.kind}"
    return {
        "device": name if name.startswith(f"{maker}-") else f"{maker}-{name}",
        "architecture": architecture,
        "vendor": maker,
        "default": "default",
    }


def tuned_folder() -> Path:
    """The folder of the tuned rows."""
    return kernel_folder() / "tuned"


def read_table(path: Path) -> dict[str, Any]:
    """A tuned file: of `kernels` and `measured`, kernel file -> atom class -> keys and values.

    Empty where there is no such file. InputError that names the file and what in it cannot be.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no JSON ({error}); {REMEDY}") from None
    if not isinstance(table, dict) or "kernels" not in table:
        raise InputError(f"{path}: has no key 'kernels'; {REMEDY}")
    known = {field.name for field in fields(Tuning)}
    for part in ("kernels", "measured"):
        _require_mapping(path, part, table.get(part, {}))
        for kernel, classes in table.get(part, {}).items():
            if kernel != EVERY and not (kernel_folder() / kernel).is_file():
                raise InputError(f"{path}: {part}: there is no kernel file {kernel}; {REMEDY}")
            _require_mapping(path, f"{part}: {kernel}", classes)
            for atom_class, row in classes.items():
                if atom_class != EVERY and not atom_class.isdecimal():
                    raise InputError(
                        f"{path}: {part}: {kernel}: '{atom_class}' is neither '{EVERY}' nor a "
                        f"number of atoms; {REMEDY}"
                    )
                _require_mapping(path, f"{part}: {kernel}: {atom_class}", row)
                strange = sorted(set(row) - known) if part == "kernels" else ()
                if strange:
                    raise InputError(
                        f"{path}: {kernel}: {atom_class}: unknown {', '.join(strange)}; {REMEDY}"
                    )
    return table


def _require_mapping(path: Path, key: str, value: object) -> None:
    if not isinstance(value, dict):
        raise InputError(f"{path}: {key}: contains no keys with values; {REMEDY}")


def read_rows(path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Kernel file -> atom class -> settings, of a tuned file; none where there is no such file."""
    return read_table(path).get("kernels", {})


_tried: dict[str, Tuning] = {}


@contextmanager
def trying(kernel: str, settings: Tuning) -> Iterator[None]:
    """Use some settings of a kernel file in a block, for every atom class."""
    _tried[kernel] = settings
    try:
        yield
    finally:
        del _tried[kernel]


def tuned(device: Device, kernel: str, max_atoms: int | None = None) -> Tuning:
    """The setting of a kernel file, relative to kernels/, on a device; for one atom class.

    Raises InputError where a tuned file holds what cannot be.
    """
    if kernel in _tried:
        return _tried[kernel].on(device)
    return _tuned(device, kernel, _atom_class(max_atoms), tuned_folder())


def _atom_class(max_atoms: int | None) -> str:
    return EVERY if max_atoms is None else str(max_atoms)


@cache
def _tuned(device: Device, kernel: str, atom_class: str, folder: Path) -> Tuning:
    found: dict[str, Any] = {}
    for path in (folder / f"{name}.json" for name in reversed(names(device).values())):
        for settings in _rows(path, kernel, atom_class):
            found |= settings
            fault = Tuning(**found).fault_on(device.back_end, device.sub_group_size, kernel)
            if fault:
                raise InputError(f"{path}: {kernel}: {fault}; correct it, or tune again")
    return Tuning(**found).on(device)


def _rows(path: Path, kernel: str, atom_class: str) -> Iterator[dict[str, Any]]:
    rows = read_rows(path)
    for name in (EVERY, kernel):
        for part in dict.fromkeys((EVERY, atom_class)):
            yield rows.get(name, {}).get(part, {})


NO_ROOM = "uses too much shared data"
"""What NVIDIA's compiler says where a work-group needs more local memory than there is."""

MEMORY = "more local memory than a work-group has"


def build_tuned(
    device: Device,
    kernel: str,
    max_atoms: int | None,
    tuning: Tuning,
    definitions: Mapping[str, object],
    names: Sequence[str],
    structs: Structs = MappingProxyType({}),
) -> Program:
    """`build` a kernel file, of which `names` are launched with `sub_groups` to a work-group.

    DeviceError, with the tuned file that asks for them, where a work-group cannot have so many.
    That is known once it is built: the compiler gives out registers and local memory.
    """
    if tuning.sub_groups == 1:
        return build(device, kernel, definitions, tuning.registers, structs)
    try:
        program = build(device, kernel, definitions, tuning.registers, structs)
        fault = _excess(program, names, tuning.sub_groups * tuning.lanes)
    except DeviceError as error:
        if NO_ROOM not in str(error):
            raise
        fault = MEMORY
    if not fault:
        return program
    where = _file_of(device, kernel, max_atoms, tuning.sub_groups)
    raise DeviceError(
        f"{where}{kernel}: sub_groups: {tuning.sub_groups} of a work-group need {fault} on "
        f"{device.label}; take fewer, or tune again"
    )


def _excess(program: Program, names: Sequence[str], items: int) -> str:
    """What work-groups of so many work-items need that the device has not; empty: nothing."""
    device = program.device
    most = int(device.handle.max_work_group_size)
    # NVIDIA's driver launches more than it says of a kernel: on an H200 1024 work-items, not 256,
    # and 227 KB, not 48. Its compiler refuses what is more.
    if device.back_end != "ptx":
        if max(map(program.local_bytes, names)) > int(device.handle.local_mem_size):
            return MEMORY
        most = min(map(program.most_items, names))
    return f"{items} work-items, of which a work-group has up to {most}" if items > most else ""


def _file_of(device: Device, kernel: str, max_atoms: int | None, sub_groups: int) -> str:
    """The tuned file that asks for as many, to begin a sentence with; empty where `tune` does."""
    for name in names(device).values():
        path = tuned_folder() / f"{name}.json"
        asked = [row.get("sub_groups", 0) for row in _rows(path, kernel, _atom_class(max_atoms))]
        if any(asked):
            return f"{path}: " if max(asked) >= sub_groups else ""
    return ""
