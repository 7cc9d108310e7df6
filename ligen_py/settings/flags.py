"""Settings as command-line flags."""

import json
import shlex
from collections.abc import Collection
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # commands without settings do not load pydantic
    from ligen_py.settings.section import Section


def flag(model: "type[Section]", name: str) -> str:
    """The command-line flag of a setting.

    >>> from ligen_py.settings.dock import DockSettings
    >>> flag(DockSettings, "num_restart")
    '--num-restart'
    """
    renamed: dict[str, str] = getattr(model, "FLAGS", {})
    return renamed.get(name, "--" + name.replace("_", "-"))


def flags(section: "Section", leave: Collection[str] = ()) -> str:
    """A section as command-line flags, for the rules and for logs: every setting with a value.

    Settings of the names in `leave` are left out.
    """
    words = []
    for name, value in section.model_dump(mode="json", exclude=set(leave)).items():
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
