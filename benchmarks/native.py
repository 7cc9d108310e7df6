"""The docking kernels compiled natively: OpenCL C as CUDA, through NVRTC, for comparison.

The kernel files are used unchanged. A prelude of macros and functions defines OpenCL's words in
CUDA. Four changes need editing of the text: files are included in place, vector literals
`(float4)(a, b, c, d)` become calls, those of structs `(row_t){a, b}` lose their brackets, and
arrays in `__local` memory become `__shared__` ones. Needs CuPy, which brings NVRTC.
"""

import re
import time
from typing import Any

import numpy as np

from ligen_py.engine.docking.batched import Docker
from ligen_py.engine.docking.latency import KERNELS, MOST_WORDS, POSE_BYTES, QUEUES, joined
from ligen_py.engine.docking.search import STRUCTS, DockBatch, Found, Kept, Plan, pack
from ligen_py.opencl.program import declared
from ligen_py.opencl.tuning import Tuning
from ligen_py.paths import kernel_folder
from ligen_py.records.ligands import Ligands
from ligen_py.records.limits import MAX_TORSIONS

PRELUDE = """
typedef unsigned char uchar;
typedef unsigned int uint;
#define __kernel extern "C" __global__
#define __global
#define __local
#define __constant
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define barrier(fence) __syncthreads()
#define fma(a, b, c) __fmaf_rn(a, b, c)
#define as_uint(x) __float_as_uint(x)
#define as_int(x) __float_as_int(x)
#define as_float(x) __int_as_float(x)
static __device__ inline int get_local_id(int) { return threadIdx.x; }
static __device__ inline int get_group_id(int) { return blockIdx.x; }
static __device__ inline int get_global_id(int) { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ inline float clamp(float x, float low, float high) {
  return low == 0.0f && high == 1.0f ? __saturatef(x) : fminf(fmaxf(x, low), high);
}
static __device__ inline int clamp(int x, int low, int high) { return min(max(x, low), high); }
static __device__ inline float4 cl_float4(float x, float y, float z, float w) {
  return make_float4(x, y, z, w);
}
static __device__ inline float4 cl_float4(float x) { return make_float4(x, x, x, x); }
static __device__ inline int4 cl_int4(int x, int y, int z, int w) {
  return make_int4(x, y, z, w);
}
static __device__ inline float4 operator-(float4 a, float4 b) {
  return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}
"""


def as_cuda(source: str) -> str:
    """A kernel file, relative to kernels/, as the text of a CUDA program."""
    text = _included(kernel_folder().joinpath(source).read_text(encoding="utf-8"))
    text = re.sub(r"\((float4|int4)\)\(", r"cl_\1(", text)
    text = re.sub(r"\((\w+_t)\)\{", r"\1{", text)
    text = re.sub(r"__local (\w+) (\w+)\[", r"__shared__ \1 \2[", text)
    rows = declared(STRUCTS)
    return PRELUDE + rows + text.replace("#pragma OPENCL FP_CONTRACT OFF", "")


def _included(text: str) -> str:
    def put(match: re.Match[str]) -> str:
        path = kernel_folder() / "include" / match.group(1)
        return _included(path.read_text(encoding="utf-8"))

    return re.sub(r'^#include "([^"]+)"$', put, text, flags=re.MULTILINE)


def compiled(source: str, definitions: dict[str, object], registers: int) -> Any:
    """A CuPy module of a kernel file for the current device."""
    import cupy

    major = int(cupy.cuda.Device().compute_capability[:-1])
    macros = {"SG_PTX": 1, **({"SG_PTX_REDUX": 1} if major >= 8 else {}), **definitions}
    options = [f"-D{name}={value}" for name, value in macros.items()]
    options += ["-std=c++17", "--fmad=false", "--device-as-default-execution-space"]
    options += [f"--maxrregcount={registers}"] if registers else []
    return cupy.RawModule(code=as_cuda(source), options=tuple(options), backend="nvrtc")


def common_definitions(plan: Plan, tuning: Tuning, atom_class: int) -> dict[str, object]:
    """Macros of both forms."""
    return {
        "MAX_ATOMS": atom_class,
        "MAX_TORSIONS": MAX_TORSIONS,
        "N_ANGLES": plan.settings.n_angles,
        "GRID_SIDE": plan.side,
        "BUMP_TESTS": min(plan.settings.bump_tests, plan.settings.n_angles),
        **tuning.definitions(),
    }


def by_value(array: np.ndarray) -> np.generic:
    """A vector of 8 or 16 bytes as one scalar of that size, as CuPy passes by value."""
    value: np.generic = array.view({8: np.complex64, 16: np.complex128}[array.nbytes])[0]
    return value


class Tables:
    """The tables of a plan on the device."""

    def __init__(self, plan: Plan) -> None:
        """Upload them."""
        import cupy

        self.field = cupy.asarray(plan.field)
        self.angles = cupy.asarray(plan.angles)
        self.starts = tuple(cupy.asarray(array) for array in plan.starts)
        self.steps = by_value(plan.steps)
        self.box = by_value(np.array([*plan.box, 0], np.int32))


class NativeDocker:
    """The batched form; one atom class, one launch. `kernel_seconds` is the device's time."""

    def __init__(self, model: Docker, tuning: Tuning, atom_class: int) -> None:
        """Launches are split as those of `model`, so that both do the same work."""
        self.model, self.plan, self.tuning = model, model.plan, tuning
        self.atom_class = atom_class
        definitions = common_definitions(self.plan, tuning, atom_class)
        definitions["WG_SUB_GROUPS"] = tuning.sub_groups
        module = compiled("batched/dock.cl", definitions, tuning.registers)
        self._kernel = module.get_function("dock")
        self._tables = Tables(self.plan)
        self.kernel_seconds = 0.0

    def search(self, ligands: Ligands, rows: np.ndarray) -> Found:
        """As `Docker.search`."""
        results, quaternions, shifts, turns = self._run(pack(ligands, rows, self.plan))
        found = Kept(self.plan, np.diff(ligands.first_torsion)[rows])
        found.take(np.arange(len(rows)), results, quaternions, shifts, turns)
        return found.arrays

    def time(self, ligands: Ligands, rows: np.ndarray) -> None:
        """Dock for the sake of `kernel_seconds`."""
        self._run(pack(ligands, rows, self.plan))

    def _run(self, batch: DockBatch) -> tuple[np.ndarray, ...]:
        import cupy

        plan, count, lanes = self.plan, len(batch), self.tuning.lanes
        splits = self.model.splits(self.atom_class, count)
        groups = -(-count * splits // self.tuning.sub_groups)
        inputs = [
            cupy.asarray(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
            for array in (
                batch.ligands, batch.conformers, batch.torsions,
                batch.inverse_lengths, batch.orders, batch.pairs,
            )
        ]  # fmt: skip
        shape = (count, plan.num_restart, 4)
        results = cupy.empty(shape, np.int32)
        quaternions, shifts = cupy.empty(shape, np.float32), cupy.empty(shape, np.float32)
        turns = cupy.empty(max(1, len(batch.torsions) * plan.num_restart), np.uint8)
        scalars = (count, plan.num_restart, plan.settings.num_iterations, splits)
        tables = self._tables
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        self._kernel(
            (groups,),
            (self.tuning.sub_groups * lanes,),
            (
                *map(np.int32, scalars), tables.steps, tables.box, tables.field, tables.angles,
                *tables.starts, *inputs, results, quaternions, shifts, turns,
            ),
        )  # fmt: skip
        end.record()
        end.synchronize()
        self.kernel_seconds += 1e-3 * cupy.cuda.get_elapsed_time(begin, end)
        return tuple(array.get() for array in (results, quaternions, shifts, turns))


class NativeLatencyDocker:
    """The latency form with one launch of `optimize` a ligand, one atom class."""

    def __init__(self, plan: Plan, tuning: Tuning, atom_class: int) -> None:
        """As many streams as the OpenCL form has queues."""
        import cupy
        import cupyx

        self.plan, self.tuning, self.atom_class = plan, tuning, atom_class
        definitions = common_definitions(plan, tuning, atom_class)
        definitions |= {"TEAM": tuning.sub_groups, "BY_FRAGMENT": 0}
        module = compiled(KERNELS, definitions, tuning.registers)
        names = ("initialize_pose", "align", "optimize", "evaluate", "score")
        self._kernels = {name: module.get_function(name) for name in names}
        self._tables = Tables(plan)
        restarts = plan.num_restart
        size = restarts * (POSE_BYTES + MAX_TORSIONS)
        self._slots = [
            {
                "stream": cupy.cuda.Stream(non_blocking=True),
                "words": cupy.empty(MOST_WORDS, np.uint32),
                "places": cupy.empty(restarts * atom_class * 4, np.float32),
                "block": cupy.empty(size, np.uint8),
                "input": cupyx.empty_pinned(MOST_WORDS, np.uint32),
                "output": cupyx.empty_pinned(size, np.uint8),
                "member": None,
            }
            for _ in range(tuning.queues or QUEUES["gpu"])
        ]

    def search(self, ligands: Ligands, rows: np.ndarray) -> Found:
        """As `LatencyDocker.search`."""
        count, torsions = self.plan.num_restart, np.diff(ligands.first_torsion)[rows]
        found = Kept(self.plan, torsions)
        for slot in self._run(ligands, rows):
            member, poses = slot["member"], count * POSE_BYTES
            floats = slot["output"][:poses].view(np.float32).reshape(3, 1, count, 4)
            turns = slot["output"][poses : poses + count * int(torsions[member])]
            results = floats[0].view(np.int32)
            found.take(np.array([member]), results, floats[1], floats[2], turns)
        return found.arrays

    def time(self, ligands: Ligands, rows: np.ndarray) -> None:
        """Dock and leave the poses where they are."""
        for _ in self._run(ligands, rows):
            pass

    def _run(self, ligands: Ligands, rows: np.ndarray) -> Any:
        batch = pack(ligands, rows, self.plan)
        words, first = joined(batch)
        torsions = batch.ligands["torsions"].tolist()
        for slot in self._slots:
            slot["member"] = None
        for number in range(len(rows)):
            slot = self._slots[number % len(self._slots)]
            if slot["member"] is not None:
                slot["stream"].synchronize()
                yield slot
            slot["member"] = number
            size = self.plan.num_restart * (POSE_BYTES + torsions[number])
            self._submit(slot, words[first[number] : first[number + 1]], size)
        for slot in self._slots:
            if slot["member"] is not None:
                slot["stream"].synchronize()
                yield slot

    def _submit(self, slot: dict[str, Any], data: np.ndarray, size: int) -> None:
        import cupy

        runtime, stream = cupy.cuda.runtime, slot["stream"]
        slot["input"][: len(data)] = data
        source, target = slot["input"].ctypes.data, slot["output"].ctypes.data
        words, places, block, tables = slot["words"], slot["places"], slot["block"], self._tables
        to_device, to_host = runtime.memcpyHostToDevice, runtime.memcpyDeviceToHost
        runtime.memcpyAsync(words.data.ptr, source, data.nbytes, to_device, stream.ptr)
        restarts, angles, values = np.int32(self.plan.num_restart), tables.angles, tables.field
        iterations, team = np.int32(self.plan.settings.num_iterations), self.tuning.sub_groups
        own = (words, places, block)
        arguments: dict[str, tuple[int, tuple[Any, ...]]] = {
            "initialize_pose": (1, (restarts, angles, *tables.starts, *own)),
            "align": (team, (restarts, tables.steps, values, angles, *own)),
            "optimize": (team, (restarts, iterations, values, angles, *own)),
            "evaluate": (1, (restarts, angles, *own)),
            "score": (1, (restarts, tables.box, values, *own)),
        }
        with stream:
            for name, (sub_groups, given) in arguments.items():
                size_of_group = (sub_groups * self.tuning.lanes,)
                self._kernels[name]((int(restarts),), size_of_group, given)
        runtime.memcpyAsync(target, block.data.ptr, size, to_host, stream.ptr)


def rates(
    docker: NativeDocker | NativeLatencyDocker, ligands: Ligands, count: int, runs: int
) -> list[float]:
    """Ligands/s of each run after one to warm up, by the clock that the OpenCL form has."""
    rows = np.arange(count) % len(ligands.entry)

    def clock() -> float:
        if isinstance(docker, NativeDocker):
            return docker.kernel_seconds
        return time.perf_counter()

    result = []
    for _ in range(runs + 1):
        started = clock()
        docker.time(ligands, rows)
        result.append(count / (clock() - started))
    return result[1:]
