"""Where settings stand, for messages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Keys = tuple[Any, ...]
"""Keys and places in lists, from the outermost: ("libraries", "vendor", "file")."""


@dataclass(frozen=True)
class Source:
    """Where settings stand: a file or the command line, and the line of each key."""

    name: str
    lines: Mapping[Keys, int] = field(default_factory=dict)
    """Line of each key, and of each item of a list, from 1."""

    def place(self, *keys: Any) -> str:
        """A key as messages name it, with the file and the line."""
        return f"{self.at(keys)}: key '{'.'.join(map(str, keys))}'"

    def at(self, keys: Keys) -> str:
        """The file, and the line of a key or of the nearest one around it."""
        for end in range(len(keys), 0, -1):
            if keys[:end] in self.lines:
                return f"{self.name}: line {self.lines[keys[:end]]}"
        return self.name
