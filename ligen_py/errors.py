"""The ways a stage stops: what the user gave it, how it was called, or what it should run on."""


class InputError(Exception):
    """A file, key, line or flag cannot be used; the message names it and says what to do.

    Stages print the message as one sentence and exit with code 1.
    """


class DeviceError(Exception):
    """No OpenCL device matches, or the chosen one cannot do the work; exit code 2."""


class UsageError(Exception):
    """A command line that contradicts itself; exit code 2."""
