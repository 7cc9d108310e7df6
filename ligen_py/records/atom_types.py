"""Atom types of the scoring functions."""

from enum import IntEnum


class Interaction(IntEnum):
    """X-Score's atom classes (Wang, Lai, Wang 2002)."""

    NONE = 0
    HYDROPHOBIC = 1
    POLAR = 2
    DONOR = 3
    ACCEPTOR = 4
    DONOR_ACCEPTOR = 5
    METAL = 6


class VinaType(IntEnum):
    """Vina's atom types (XS): element, then hydrophobic, donor, acceptor, both, or plain polar."""

    NONE = 0
    C_H = 1
    C_P = 2
    N_P = 3
    N_D = 4
    N_A = 5
    N_DA = 6
    O_P = 7
    O_D = 8
    O_A = 9
    O_DA = 10
    S_P = 11
    P_P = 12
    F_H = 13
    CL_H = 14
    BR_H = 15
    I_H = 16
    SI = 17
    AT = 18
    MET_D = 19


class Ad4Type(IntEnum):
    """AutoDock4's atom types; NONE: hydrogens on carbon, which are merged into it."""

    NONE = 0
    HD = 1
    C = 2
    A = 3
    N = 4
    NA = 5
    OA = 6
    S = 7
    SA = 8
    P = 9
    F = 10
    CL = 11
    BR = 12
    I = 13  # noqa: E741  (iodine)
    SI = 14
    MG = 15
    CA = 16
    MN = 17
    FE = 18
    ZN = 19
