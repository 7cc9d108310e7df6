"""The manifest beside a campaign file, and what it names that is not here."""

import logging
from pathlib import Path

from ligen_py.errors import InputError
from ligen_py.store.campaign.manifest import Manifest, read_manifest
from ligen_py.store.campaign.reader import CampaignReader

log = logging.getLogger("ligen_py")


def listed(file: Path, campaign: CampaignReader, given: Path | None = None) -> Manifest:
    """The manifest of the campaign in `file`, with paths that lead somewhere from here.

    InputError where it is not here, or where the campaign was not made from it. Without a reference
    ligand, a file of the user, this is not known: what is read of a part must be compared. A
    manifest that was `given` needs it.
    """
    path = given or file.with_name("manifest.tsv")
    if not path.is_file():
        raise InputError(f"{path}: does not exist; name the manifest by --manifest")
    manifest = read_manifest(path).found_from(path)
    if given or not lost_crystals(manifest):
        campaign.require_made_from(path, manifest)
    return manifest


def lost_crystals(manifest: Manifest) -> list[Path]:
    """Reference ligands that are not here."""
    crystals = dict.fromkeys(part.crystal for part in manifest.parts if part.crystal)
    return [crystal for crystal in crystals if not crystal.is_file()]


def has_pockets(manifest: Manifest | None, target: str) -> bool:
    """Whether the pocket files of a target are here; says which are not."""
    parts = manifest.parts if manifest else ()
    pockets = dict.fromkeys(part.pocket for part in parts if part.target == target)
    gone = [pocket for pocket in pockets if not pocket.is_file()]
    for pocket in gone:
        log.warning(
            "%s: does not exist; receptor and scripts of %s are left out; 'ligen run CONFIG' "
            "makes it again", pocket, target,
        )  # fmt: skip
    return not gone
