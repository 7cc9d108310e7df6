"""Vinardo's numbers in the form of Vina.

Source: R. Quiroga, M. A. Villarreal, PLoS ONE 11 (2016) e0155183.
"""

from ligen_py.engine.functions.vina.constants import Form, Weights, element_radii

VINARDO = Form(
    Weights(
        gauss1_weight=-0.045, gauss1_width=0.8,
        gauss2_weight=0.0, gauss2_offset=0.0, gauss2_width=1.0,
        repulsion_weight=0.8,
        hydrophobic_weight=-0.035, hydrophobic_good=0.0, hydrophobic_bad=2.5,
        hbond_weight=-0.600, hbond_good=-0.6, hbond_bad=0.0,
        rotor_weight=0.05846,
    ),
    element_radii(C=2.0, N=1.7, O=1.6, S=2.0, P=2.1, F=1.5, CL=1.8, BR=2.0, I=2.2, SI=2.2, AT=2.3,
           MET=1.2),
)  # fmt: skip
