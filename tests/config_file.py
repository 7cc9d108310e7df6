"""A config file as the program reads it, whether or not the files that it names are there."""

from pathlib import Path

from ligen_py.settings.campaign import Campaign
from ligen_py.settings.check import check
from ligen_py.settings.document import read_document


def settings_in(path: Path) -> Campaign:
    """The settings, by the two steps that every command takes before `Workplan.of` goes on."""
    return check(Campaign, *read_document(path))
