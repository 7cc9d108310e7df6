"""What networks said of the best molecules' poses: chosen again, and a sample judged again."""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ligen_py.campaign.workplan import Workplan
from ligen_py.engine.functions.gnina.constants import NETWORKS as FILES
from ligen_py.engine.functions.gnina.device import Ensemble
from ligen_py.engine.functions.gnina.weights import load
from ligen_py.errors import InputError
from ligen_py.judging import COLUMNS, Group, Judge, groups, judged, together
from ligen_py.opencl.device import select
from ligen_py.provenance import file_digest
from ligen_py.records.devices import device_class
from ligen_py.records.networks import NETWORKS, Judged
from ligen_py.records.rows import rows_below, subset, unequal
from ligen_py.settings.check import check
from ligen_py.settings.networks import NetworksSettings
from ligen_py.store.campaign.manifest import Manifest
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.inputs import input_digests
from ligen_py.store.files.read import read, run_record
from ligen_py.verification.causes import first_of

log = logging.getLogger("ligen_py")

SAMPLE = 20
"""Molecules that are judged again: some seconds of a GPU, half a minute of a processor."""

NEAR = 1e-5
"""Between a probability and what its logit gives, both as float32."""


def judged_faults(
    path: Path,
    campaign: Path,
    manifest: Manifest,
    plan: Workplan | None,
    seed: int,
    device: str | None,
) -> Iterator[str]:
    """Whether a networks file is what the campaign and the networks give.

    Which molecules and poses there are, and which pose is chosen, is compared of all; what the
    networks say of `SAMPLE` molecules, by `seed`.
    """
    try:
        stored, record = read(path, NETWORKS, Judged), run_record(path, NETWORKS)
        inputs = input_digests(path, record)
        settings = check(NetworksSettings, json.loads(record["settings"]), str(path))
        for digest, what in ((file_digest(campaign), campaign), (manifest.digest(), "manifest")):
            if digest not in inputs:
                yield f"{path}: was not made from {what} as it is now"
                return
    except (InputError, ValueError, KeyError) as error:
        yield str(error) if isinstance(error, InputError) else f"{path}: its run record is damaged"
        return
    if plan is not None:
        asked = plan.settings.networks.model_dump(mode="json")
        for name, value in settings.model_dump(mode="json").items():
            if value != asked[name]:
                yield (
                    f"{path}: was made with networks.{name} {value}, the config asks for "
                    f"{asked[name]}"
                )
    for name, digest in FILES.items():
        if digest not in inputs:
            yield f"{path}: was not made with the network {name}"
    likely = 1 / (1 + np.exp(-stored.logit.astype("f8")))
    if not np.allclose(stored.pose, likely, rtol=0, atol=NEAR, equal_nan=True):
        yield f"{path}: networks/pose does not follow from logit"
    try:
        yield from _made_again(path, campaign, manifest, settings, stored, record, seed, device)
    except InputError as error:
        yield f"{path}: cannot be made again: {error}"


def _made_again(
    path: Path,
    campaign: Path,
    manifest: Manifest,
    settings: NetworksSettings,
    stored: Judged,
    record: dict[str, str],
    seed: int,
    device: str | None,
) -> Iterator[str]:
    count = len(stored.rank)
    wanted = np.random.default_rng(seed).permutation(count)[:SAMPLE]
    judge = _judge(path, record, device, len(wanted))
    pieces, place, apart = [], [np.empty(0, "i8")], 0
    with open_campaign(campaign) as opened:
        for group in groups(opened, manifest, settings.best):
            if group.place.max() >= count:
                yield f"{path}: has {count} molecules; the campaign has more to judge"
                return
            own = subset(stored, rows_below(stored, "molecule", group.place))
            if not np.array_equal(own.first_pose, group.poses.first_pose):
                yield f"{path}: networks/first_pose is not what {campaign} and its parts give"
                return
            pieces.append(
                judged(group, {name: getattr(own, name) for name in COLUMNS}, settings.weight)
            )
            place.append(group.place)
            some = np.flatnonzero(np.isin(group.place, wanted))
            if judge is not None and len(some):
                terms, rows = judge.terms(_some(group, some)), rows_below(own, "molecule", some)
                apart += sum(
                    terms[name].tobytes() != getattr(own, name)[rows["pose"]].tobytes()
                    for name in COLUMNS
                )
    again = together(pieces, np.concatenate(place))
    if len(again.rank) != count:
        yield f"{path}: has {count} molecules; the campaign has {len(again.rank)} to judge"
        return
    if columns := [f"networks/{column}" for column in unequal(stored, again)]:
        yield f"{path}: {first_of(columns)} not what {campaign} and its parts give"
    if apart:
        yield f"{path}: what networks say of {len(wanted)} molecules judged again: not equal"


def _judge(path: Path, record: dict[str, str], device: str | None, count: int) -> Judge | None:
    """The networks, where those of this machine can be compared with the file's."""
    try:
        networks = load(FILES)
    except InputError as error:
        log.warning("%s: no pose is judged again: %s", path, error)
        return None
    chosen = select(device)
    if device_class(chosen.origin) != device_class(record["device"]):
        log.warning("%s: no pose is judged again, as it was made on %s", path, record["device"])
        return None
    return Judge(chosen, Ensemble(chosen, networks), count)


def _some(group: Group, rows: np.ndarray) -> Group:
    """Some molecules of a group; what networks read of them."""
    below = rows_below(group.poses, "ligand", rows)
    return replace(
        group,
        place=group.place[rows],
        ligands=subset(group.ligands, rows_below(group.ligands, "ligand", rows)),
        poses=subset(group.poses, below),
        energy=group.energy[below["pose"]],
        physics=group.physics[rows],
        score=group.score[rows],
    )
