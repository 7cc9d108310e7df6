"""Whether the files of a campaign are complete, sound, and made from each other."""

import re
from collections.abc import Iterator
from pathlib import Path

from ligen_py.chain import BETWEEN, FILES, SCREEN
from ligen_py.errors import InputError
from ligen_py.provenance import file_digest
from ligen_py.records.kinds import KINDS
from ligen_py.store.campaign.manifest import Manifest, PartFiles
from ligen_py.store.campaign.part import RECORDED, read_part
from ligen_py.store.files.dropped import is_dropped
from ligen_py.store.files.inputs import input_digests
from ligen_py.store.files.read import groups_in, read, run_record

CHUNK = re.compile(r"(?P<label>.*?)(?P<number>\d+)-of-(?P<count>\d+)")
"""Name of a chunk: that of its file within the library, if there are several, and which part."""


def missing_chunks(manifest: Manifest) -> Iterator[str]:
    """Chunks that a manifest lacks: another chunk of the same file says how many there are."""
    found: dict[tuple[str, str, str, int], set[int]] = {}
    for part in manifest.parts:
        name = CHUNK.fullmatch(part.ligands.stem)
        if name is None:
            yield f"{part.label}: the chunk's name does not say which part of how many it is"
            continue
        key = part.place, part.library, name["label"], int(name["count"])
        found.setdefault(key, set()).add(int(name["number"]))
    for (place, library, label, count), numbers in found.items():
        for number in sorted(set(range(1, count + 1)) - numbers):
            yield f"{place}/{library}/{label}{number}-of-{count}: is not in the manifest"


def part_faults(
    part: PartFiles,
    known: dict[tuple[str, ...], str] | None,
    digests: dict[Path, str],
    unsound: set[Path],
) -> Iterator[str]:
    """Checksums, content and provenance of the files of one part, and its ledger.

    `known` are those that the campaign file was made from; None for a part that it does not rank.
    `digests` and `unsound` have the files of earlier parts, all and those that cannot be read, and
    get those of this one: parts share ligands and pockets.
    """
    label = (part.place, part.library, part.ligands.stem)
    for kind in FILES:
        path: Path = getattr(part, kind)
        if path in digests:
            continue
        if not path.is_file():
            yield f"{path}: is missing; 'ligen run CONFIG' makes it again"
            return
        may_be_dropped = kind in BETWEEN
        digests[path] = file_digest(path, whole=not may_be_dropped)
        try:
            if may_be_dropped and is_dropped(path):
                run_record(path, KINDS[kind])
                continue
            for record in groups_in(path, KINDS[kind]).values():
                read(path, KINDS[kind], record)
        except InputError as error:
            unsound.add(path)
            yield str(error)
    for kind in RECORDED:
        path = getattr(part, kind)
        if path in unsound:
            continue
        if known is not None and known.get((*label, kind)) != digests[path]:
            yield f"{path}: is not the file that the campaign was made from"
    if unsound.intersection(getattr(part, kind) for kind in FILES):
        return
    sound = True
    try:
        for stage in SCREEN:
            path = getattr(part, stage.kind)
            inputs = input_digests(path, run_record(path, KINDS[stage.kind]))
            for source in stage.inputs.values():
                if digests[getattr(part, source)] not in inputs:
                    sound = False
                    yield f"{path}: was not made from {getattr(part, source)} as it is now"
        if sound:
            read_part(part)
    except InputError as error:
        yield str(error)
