"""What several networks say together."""

import numpy as np

from ligen_py.engine.functions.gnina.constants import TERMS


def terms(outputs: np.ndarray) -> dict[str, np.ndarray]:
    """Term -> float32 (poses,) from OUTPUTS of each network: (networks, poses, OUTPUTS).

    The pose score is the mean of the networks' probabilities, the affinity the mean of their pK.
    """
    outputs = outputs.astype(np.float64)
    gap = outputs[..., 1] - outputs[..., 0]
    good, bad = (np.exp(-np.logaddexp(0, sign * gap)).mean(axis=0) for sign in (-1, 1))
    affinity = outputs[..., 2].mean(axis=0)
    values = (np.log(good) - np.log(bad), good, affinity, good * affinity)
    return {name: value.astype(np.float32) for name, value in zip(TERMS, values, strict=True)}
