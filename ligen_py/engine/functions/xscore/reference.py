"""X-Score in NumPy: the specification of kernels/include/xscore.clh, readable and slow.

Source: R. Wang, L. Lai, S. Wang, J. Comput.-Aided Mol. Des. 16 (2002) 11-26, with the constants and
the selection rules of X-Score v1.3; coefficients are in `constants`. Distances in
Angstrom, angles in degrees. Squared distances are float32 with the kernel's own operations, so that
both agree on which atoms lie within the cut-off; the rest is float64.

X-Score counts only receptor atoms of residues that come within 8 A of the ligand. An atom within
the pair terms' own cut-off of 8 A marks its residue itself, so that rule changes nothing.
"""

from dataclasses import dataclass

import numpy as np

from ligen_py.engine.functions.xscore.constants import (
    CUTOFF,
    FIELD_CUTOFF,
    FIELD_HYDROPHOBIC,
    FIELD_NEAREST,
    FIELD_VDW,
    HMSCORE,
    HPSCORE,
    TERMS,
    Coefficients,
    signed_radii,
)
from ligen_py.engine.geometry import fma32
from ligen_py.engine.pose_arrays import places
from ligen_py.records.functions.xscore import Interaction, XScoreLigands, XScoreReceptor
from ligen_py.records.poses import Poses

DONATES, ACCEPTS = 1, 2


@dataclass(frozen=True)
class Molecule:
    """One ligand's columns of `Ligands`, and its pose's coordinates (atoms, 3) float32."""

    xyz: np.ndarray
    element: np.ndarray
    radius: np.ndarray
    interaction: np.ndarray
    donor: np.ndarray
    acceptor: np.ndarray
    logp: np.ndarray
    hydrogens: np.ndarray
    bond: np.ndarray
    rotors: float


@dataclass(frozen=True)
class Site:
    """A polar atom: where its hydrogen or lone pair points (1 straight, 2 angled, 0 none)."""

    position: np.ndarray
    radius: float
    root: np.ndarray | None
    donor: int
    acceptor: int


WATCHED = ("total",)
"""Terms that the watch compares with the kernel's."""


def score_poses(
    ligands: XScoreLigands, receptor: XScoreReceptor, poses: Poses
) -> dict[str, np.ndarray]:
    """Term -> float32 array with one value a pose (`TERMS`; NaN: not finite)."""
    rows = []
    for number in range(len(ligands.entry)):
        for pose in range(poses.first_pose[number], poses.first_pose[number + 1]):
            rows.append(terms(molecule(ligands, number, poses, pose), receptor))
    return {name: np.array([row[name] for row in rows], np.float32) for name in TERMS}


def molecule(ligands: XScoreLigands, number: int, poses: Poses, pose: int) -> Molecule:
    """Ligand `number` in the coordinates of a pose."""
    atoms = slice(ligands.first_atom[number], ligands.first_atom[number + 1])
    bonds = slice(ligands.first_bond[number], ligands.first_bond[number + 1])
    return Molecule(
        xyz=places(ligands, poses, number, slice(pose, pose + 1))[0],
        element=ligands.element[atoms],
        radius=ligands.radius[atoms],
        interaction=ligands.interaction[atoms],
        donor=ligands.donor[atoms],
        acceptor=ligands.acceptor[atoms],
        logp=ligands.logp[atoms],
        hydrogens=ligands.hydrogens[atoms],
        bond=ligands.bond[bonds],
        rotors=float(ligands.rotors[number]),
    )


def terms(ligand: Molecule, receptor: XScoreReceptor) -> dict[str, float]:
    """All terms of a pose, the pKd that each function predicts, and their mean, the total.

    NaN, but for the rotors, if a coordinate is not finite.
    """
    if not np.isfinite(ligand.xyz).all():
        return {**dict.fromkeys(TERMS, np.nan), "rt": ligand.rotors}
    found = {
        "vdw": van_der_waals(ligand, receptor),
        "hb": hydrogen_bonds(ligand, receptor),
        "hp": hydrophobic_pairs(ligand, receptor),
        "hm": hydrophobic_match(ligand, receptor),
        "rt": ligand.rotors,
    }
    found["hpscore"] = predicted(HPSCORE, found, "hp")
    found["hmscore"] = predicted(HMSCORE, found, "hm")
    found["total"] = (found["hpscore"] + found["hmscore"]) / 2
    return found


def predicted(weights: Coefficients, found: dict[str, float], hydrophobic: str) -> float:
    """The pKd that one function predicts; `hydrophobic` names its own term."""
    pair_terms = weights.vdw * found["vdw"] + weights.hb * found["hb"]
    own_term = weights.hydrophobic * found[hydrophobic]
    return weights.constant + pair_terms + own_term + weights.rt * found["rt"]


def squared_distances(one: np.ndarray, many: np.ndarray) -> np.ndarray:
    """Squared distances (atoms,) of a point (3,) to points (atoms, 3), float32 as in the kernel."""
    x, y, z = (one - many).T
    return fma32(x, x, fma32(y, y, z * z))


def van_der_waals(ligand: Molecule, receptor: XScoreReceptor) -> float:
    """VDW: 8-4 potential over pairs within 8 A, per ligand atom; atoms that repel are dropped.

    a_i = -sum_j [(d0/d)^8 - 2 (d0/d)^4] with d0 = R_i + R_j; VDW = sum of all a_i >= 0. Hydrogens
    and unscored receptor atoms have radius 0 and take no part.
    """
    scored = receptor.radius > 0
    total = 0.0
    for i in np.flatnonzero(ligand.radius > 0):
        squared = squared_distances(ligand.xyz[i], receptor.xyz[scored])
        near = squared <= np.float32(CUTOFF) ** 2
        contact = ligand.radius[i] + receptor.radius[scored][near].astype(float)
        fourth = (contact**2 / np.maximum(squared[near], 1e-6)) ** 2
        total += max(0.0, -float(np.sum(fourth**2 - 2 * fourth)))
    return total


def hydrophobic_pairs(ligand: Molecule, receptor: XScoreReceptor) -> float:
    """HP: pairs of hydrophobic atoms, each as near as `nearness` says."""
    fat = (receptor.interaction == Interaction.HYDROPHOBIC) & (receptor.radius > 0)
    return float(sum(nearness(ligand, i, receptor, fat).sum() for i in _hydrophobic(ligand)))


def hydrophobic_match(ligand: Molecule, receptor: XScoreReceptor) -> float:
    """HM: logP of the hydrophobic ligand atoms that are fit for their surroundings.

    An atom whose own logP is positive counts with it if that is 0.5 at least, or if the logP of all
    scored receptor atoms, each times its `nearness`, sums to more than -0.5. Such a step falls
    differently on two devices where the sum lies within their rounding of it.
    """
    scored = receptor.radius > 0
    total = 0.0
    for i in _hydrophobic(ligand):
        surroundings = receptor.logp[scored] @ nearness(ligand, i, receptor, scored)
        if ligand.logp[i] >= 0.5 or (ligand.logp[i] > 0 and surroundings > -0.5):
            total += float(ligand.logp[i])
    return total


def nearness(ligand: Molecule, i: int, receptor: XScoreReceptor, chosen: np.ndarray) -> np.ndarray:
    """1 up to R_i + R_j + 0.5 A, falling to 0 at R_i + R_j + 2.2 A, of the chosen atoms j.

    The ramp ends at 6.5 A at the most, so the cut-off of 8 A needs no check.
    """
    distance = np.sqrt(squared_distances(ligand.xyz[i], receptor.xyz[chosen]).astype(float))
    contact = float(ligand.radius[i]) + receptor.radius[chosen].astype(float)
    return np.clip((contact + 2.2 - distance) / 1.7, 0, 1)


def _hydrophobic(ligand: Molecule) -> list[int]:
    """Numbers of the atoms that HP and HM are about."""
    fat = (ligand.interaction == Interaction.HYDROPHOBIC) & (ligand.radius > 0)
    numbers: list[int] = np.flatnonzero(fat).tolist()
    return numbers


def trapezoid(value: float, zero: float, full_from: float, full_to: float, end: float) -> float:
    """0 below `zero`, rising to 1 at `full_from`, 1 up to `full_to`, falling to 0 at `end`."""
    if value < zero or value >= end:
        return 0.0
    if value < full_from:
        return (value - zero) / (full_from - zero)
    return 1.0 if value < full_to else (end - value) / (end - full_to)


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """Angle of two vectors (3,) in degrees."""
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)))


def bond_strength(donor: Site, acceptor: Site) -> float:
    """f(d) * min(g_donor, g_acceptor) of one hydrogen bond.

    f rises over the first Angstrom, is 1 up to d0 - 0.4 A and 0 from d0 + 0.2 A, d0 = R_D + R_A
    (never above X-Score's cut-off of 5 A). g is a function of the angle by which donor - acceptor
    deviates from root - donor, or acceptor - root from donor - acceptor; 1 where there is no root.
    """
    bond = acceptor.position - donor.position
    contact = donor.radius + acceptor.radius
    value = trapezoid(float(np.linalg.norm(bond)), 0.0, 1.0, contact - 0.4, contact + 0.2)
    if not value:  # most pairs are far apart
        return 0.0
    g_donor = g_acceptor = 1.0
    if donor.root is not None:
        corners = (0, 0.001, 25, 50) if donor.donor == 1 else (25, 50, 75, 100)
        g_donor = trapezoid(angle_between(donor.position - donor.root, bond), *corners)
    if acceptor.root is not None:
        corners = (0, 0.001, 30, 55) if acceptor.acceptor == 1 else (0, 5, 70, 95)
        g_acceptor = trapezoid(angle_between(bond, acceptor.root - acceptor.position), *corners)
    return value * min(g_donor, g_acceptor)


def ligand_site(ligand: Molecule, atom: int) -> Site:
    """A ligand atom with its root, the mean position of its heavy neighbours."""
    pairs = ligand.bond[(ligand.bond == atom).any(axis=1)]
    others = pairs[pairs != atom]
    heavy = others[ligand.element[others] > 1]
    root = ligand.xyz[heavy].astype(float).mean(axis=0) if len(heavy) else None
    return Site(
        ligand.xyz[atom].astype(float),
        float(ligand.radius[atom]),
        root,
        int(ligand.donor[atom]),
        int(ligand.acceptor[atom]),
    )


def receptor_sites(receptor: XScoreReceptor) -> list[Site]:
    """The polar receptor atoms; metals have no root."""
    polar = (receptor.radius > 0) & ((receptor.donor > 0) | (receptor.acceptor > 0))
    rooted = (receptor.rooted > 0) & (receptor.interaction != Interaction.METAL)
    return [
        Site(
            receptor.xyz[j].astype(float),
            float(receptor.radius[j]),
            receptor.root[j].astype(float) if rooted[j] else None,
            int(receptor.donor[j]),
            int(receptor.acceptor[j]),
        )
        for j in np.flatnonzero(polar)
    ]


def bond_limits(ligand: Molecule, atom: int) -> tuple[int, int]:
    """The most bonds that a ligand atom gives and takes.

    A donor gives as many as it has hydrogens (the first always counts), one if it accepts as well;
    nitrogen takes one, any other acceptor two.
    """
    both = ligand.donor[atom] > 0 and ligand.acceptor[atom] > 0
    gives = 1 if both else max(1, int(ligand.hydrogens[atom]))
    return gives, 1 if ligand.element[atom] == 7 else 2


def hydrogen_bonds(ligand: Molecule, receptor: XScoreReceptor) -> float:
    """HB: sum over ligand atoms of the bonds that pass X-Score's selection (`selected`)."""
    sites = receptor_sites(receptor)
    polar = (ligand.radius > 0) & ((ligand.donor > 0) | (ligand.acceptor > 0))
    total = 0.0
    for atom in np.flatnonzero(polar).tolist():
        candidates = _candidates(ligand_site(ligand, atom), sites)
        total += float(np.sum(selected(candidates, bond_limits(ligand, atom))))
    return total


def _candidates(atom: Site, sites: list[Site]) -> list[tuple[int, float, np.ndarray]]:
    """Kind, value and direction of every possible bond of a ligand atom.

    An atom that both gives and takes gives to every acceptor and takes from what only donates.
    """
    found = []
    for site in sites:
        kind = DONATES if atom.donor and site.acceptor else 0
        if not kind and atom.acceptor and site.donor:
            kind = ACCEPTS
        if kind:
            pair = (atom, site) if kind == DONATES else (site, atom)
            value = bond_strength(*pair)
            if value > 0:
                found.append((kind, value, site.position - atom.position))
    return found


def selected(
    candidates: list[tuple[int, float, np.ndarray]], limits: tuple[int, int]
) -> list[float]:
    """Values of one ligand atom's bonds that count, by decreasing value.

    Candidates are ranked by value (ties: receptor order). One is dropped if any candidate before
    it, dropped or not, lies less than 45 degrees off; if as many of its kind as the limit stand
    before it, dropped or not; or if it is worth less than 0.01.
    """
    ranked = sorted(candidates, key=lambda candidate: -candidate[1])
    kept: list[float] = []
    for rank, (kind, value, direction) in enumerate(ranked):
        before = ranked[:rank]
        shadowed = any(angle_between(direction, other) < 45 for _, _, other in before)
        same_kind = sum(other == kind for other, _, _ in before)
        if not shadowed and same_kind < limits[kind - 1] and value >= 0.01:
            kept.append(value)
    return kept


def pair_energy_slope(
    r: np.ndarray, one: np.ndarray, two: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Energy, kcal/mol, and dE/dr of pairs in the field of X-Score (kernels: xscore_field.clh).

    `one` and `two` are radii, negative for hydrophobic atoms; all arrays are broadcast. HPScore's
    8-4 potential, here with what it drops, the atoms that repel; and its hydrophobic pairs.
    """
    contact, fat = np.abs(one) + np.abs(two), (one < 0) & (two < 0)
    near = np.maximum(r, FIELD_NEAREST)
    fourth = (contact / near) ** 4
    ramp = (contact + 2.2 - r) / 1.7
    steep = np.where(r > FIELD_NEAREST, 8 * fourth * (1 - fourth) / near, 0)
    sloping = fat * ((ramp > 0) & (ramp < 1)) / -1.7
    vdw, hydrophobic = FIELD_VDW, FIELD_HYDROPHOBIC
    energy = vdw * fourth * (fourth - 2) + hydrophobic * fat * np.clip(ramp, 0, 1)
    on = r < FIELD_CUTOFF
    return on * energy, on * (vdw * steep + hydrophobic * sloping)


def field_energy(points: np.ndarray, receptor: XScoreReceptor, radii: np.ndarray) -> np.ndarray:
    """Energy (radii, points) of a probe of each signed radius at points (points, 3)."""
    scored = receptor.radius > 0
    distance = np.linalg.norm(points[:, None] - receptor.xyz[scored], axis=-1)
    other = signed_radii(receptor, scored).astype(float)
    return np.stack([pair_energy_slope(distance, one, other)[0].sum(axis=1) for one in radii])
