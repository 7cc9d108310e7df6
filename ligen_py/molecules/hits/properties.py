"""Properties and structural alerts of a ranked molecule."""

from dataclasses import dataclass

from rdkit import Chem
from rdkit.Chem import rdMolDescriptors

from ligen_py.molecules.ligands.filters import PROPERTIES, alerts_of

CATALOGS = ("pains", "brenk")
"""Alerts that are looked for: J. B. Baell, G. A. Holloway, J. Med. Chem. 2010, 53, 2719; R. Brenk
et al., ChemMedChem 2008, 3, 435."""


@dataclass(frozen=True)
class Properties:
    """Of the neutral parent, but for the charge, which is that of the docked state."""

    weight: float
    """Average molecular weight, g/mol."""
    logp: float
    """Crippen's."""
    tpsa: float
    """Square Angstrom."""
    donors: int
    acceptors: int
    rotatable: int
    heavy: int
    charge: int
    polar: int
    """Atoms of elements other than carbon, hydrogen and halogens."""
    alerts: tuple[str, ...]
    """As 'PAINS catechol A'."""


def properties(parent: Chem.Mol, charge: int) -> Properties:
    """The properties of a parent; `charge` is its docked state's."""
    plain = (1, 6, 9, 17, 35, 53)
    values = {
        name: PROPERTIES[name](parent)
        for name in ("logp", "tpsa", "donors", "acceptors", "rotatable", "heavy")
    }
    return Properties(
        weight=rdMolDescriptors._CalcMolWt(parent),
        **values,  # type: ignore[arg-type]
        charge=charge,
        polar=sum(atom.GetAtomicNum() not in plain for atom in parent.GetAtoms()),
        alerts=tuple(
            f"{name.upper() if name == 'pains' else name.title()} {label}"
            for name in CATALOGS
            for label in alerts_of(parent, name)
        ),
    )
