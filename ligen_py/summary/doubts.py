"""Why to doubt a hit: what a docking score does not see."""

import math
from collections.abc import Mapping

from ligen_py.molecules.hits.analysis import Analysis
from ligen_py.molecules.interactions.contacts import POLAR

WEIGHT = 150, 600
LOGP = 6.0
ALERTS = 3
STRAIN = 12.0
GAP = 0.2
DISAGREE, FARTHER = 0.5, 0.25
"""A function disagrees that ranks a hit behind half of the molecules, and much behind its rank."""

FAILED = {
    "stereo": "its stereo is not that of the docked state",
    "bonds": "bond lengths or angles are distorted",
    "clash": "atoms of the ligand clash with each other",
    "flat": "an aromatic ring or double bond is not flat",
    "contact": "an atom clashes with the receptor",
    "overlap": "it overlaps with the receptor",
}


def doubts(found: Analysis, gap: float, share: float, shares: Mapping[str, float]) -> list[str]:
    """Reasons to doubt a hit, the gravest first.

    Args:
        found: its analysis.
        gap: kcal/mol to the best other pose; NaN without one.
        share: share of the molecules that rank before this one.
        shares: scoring function -> share of the molecules that it ranks before this one.
    """
    known = found.properties
    if known is None:
        return ["could not be analysed: it took too long, or RDKit has no method for it"]
    kinds = {contact.kind for contact in found.contacts}
    reasons = []
    if not known.polar:
        reasons.append(
            "no nitrogen, oxygen or other polar atom: its score comes from contact area alone"
        )
    elif not kinds & POLAR:
        reasons.append("no hydrogen bond or other polar contact with the receptor")
    reasons += [FAILED[name] for name, passed in found.checks.items() if not passed]
    low, high = WEIGHT
    if known.weight < low:
        reasons.append(f"small: {known.weight:.1f} g/mol, below {low}")
    if known.weight > high:
        reasons.append(f"large: {known.weight:.1f} g/mol, above {high}; scores grow with size")
    if known.logp > LOGP:
        reasons.append(f"greasy: logP {known.logp:.1f}, above {LOGP:g}")
    pains = [alert for alert in known.alerts if alert.startswith("PAINS")]
    if pains:
        reasons.append(f"{pains[0]}: may interfere with assays")
    elif len(known.alerts) >= ALERTS:
        reasons.append(f"{len(known.alerts)} structural alerts")
    if found.strain > STRAIN:
        reasons.append(f"strained: {found.strain:.1f} kcal/mol, above {STRAIN:g}")
    if not math.isnan(gap) and round(gap, 2) < GAP:  # as it is shown
        reasons.append(f"uncertain pose: another, elsewhere, is only {gap:.2f} kcal/mol worse")
    others = [name for name, behind in shares.items() if behind > max(DISAGREE, share + FARTHER)]
    if others:
        verb = "ranks" if len(others) == 1 else "rank"
        reasons.append(f"{' and '.join(others)} {verb} it behind half of the molecules")
    return reasons
