"""What result files record of the device that made them."""


def device_class(label: str) -> str:
    """What gives the same bits: platform, kind and functions of `Device.origin`.

    That is `platform / name (kind, driver ..., functions ...)`, the last of processors alone.

    >>> device_class("Intel(R) OpenCL / AMD EPYC (cpu, driver 2026.22, functions 1a2b3c4d)")
    'Intel(R) OpenCL cpu functions 1a2b3c4d'
    """
    kind, *further = label.rpartition("(")[2].removesuffix(")").split(", ")
    functions = [word for word in further if word.startswith("functions ")]
    return " ".join([label.partition(" / ")[0], kind, *functions])
