"""Text for spreadsheets: what looks like a formula is none any more, everything else stays."""

import pytest

from ligen_py.store.files.text import harmless


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("  @SUM(A1)", "  '@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("name;=1+1", "name;'=1+1"),
        ("name; \t+1+1;-1", "name; \t'+1+1;-1"),
        ("\t=1", "\t'=1"),
        ("name\r=1", "name\r'=1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\uff0bA1", "'\uff0bA1"),
        ("\uff0dA1", "'\uff0dA1"),
        ("\uff20A1", "'\uff20A1"),
        ("-1.5", "-1.5"),
        ("+3", "+3"),
        ("-\uff11", "'-\uff11"),
        ("C=O", "C=O"),
        ("[NH3+]CC([O-])=O", "[NH3+]CC([O-])=O"),
        ("", ""),
        ("a-b", "a-b"),
    ],
)
def test_formulas_are_guarded(text: str, safe: str) -> None:
    assert harmless(text) == safe
