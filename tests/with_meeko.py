"""Meeko, which asks at its import for a handler of RDKit's log that other packages may remove."""

import logging

if not logging.getLogger("rdkit").handlers:
    logging.getLogger("rdkit").addHandler(logging.NullHandler())

from meeko import MoleculePreparation, PDBQTMolecule, PDBQTWriterLegacy, RDKitMolCreate

__all__ = ["MoleculePreparation", "PDBQTMolecule", "PDBQTWriterLegacy", "RDKitMolCreate"]
