"""What every stage's command line shares: flags from settings, logging, errors, exit codes.

Exit codes: 0 done; 1 the input cannot be used; 2 wrong usage, or no such device.
"""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from ligen_py import __version__
from ligen_py.errors import DeviceError, InputError
from ligen_py.settings import Section, check, flag

log = logging.getLogger("ligen_py")


def parser(
    module: str, description: str | None, settings: type[Section] | None = None
) -> argparse.ArgumentParser:
    """An argument parser for `python -m module`, one flag per setting with unit and default.

    The first paragraph of `description` (the module's docstring) becomes the help's opening.
    """
    result = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=(description or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    result.add_argument("--version", action="version", version=f"ligen_py {__version__}")
    result.add_argument("--quiet", action="store_true", help="only warnings and errors")
    if settings is not None:
        _add_settings(result.add_argument_group("settings"), settings)
    return result


def _add_settings(group: Any, settings: type[Section]) -> None:
    for name, field in settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        options: dict[str, Any] = {"dest": f"setting_{name}", "default": argparse.SUPPRESS}
        choices = _choices(field.annotation)
        if choices:
            options["choices"] = choices
        else:
            kind = getattr(field.annotation, "__name__", "value")
            options["metavar"] = {"int": "N", "float": "X"}.get(kind, "VALUE")
        if get_origin(field.annotation) is tuple:
            options["nargs"] = "+"
            default = " ".join(str(item) for item in default)
        group.add_argument(flag(name), help=f"{field.description} (default: {default})", **options)


def _choices(annotation: Any) -> list[str]:
    if get_origin(annotation) is tuple:
        annotation = get_args(annotation)[0]
    return [str(choice) for choice in get_args(annotation) if isinstance(choice, str)]


def settings_from(model: type[Section], arguments: argparse.Namespace) -> Any:
    """The settings a command line asks for, checked; InputError names the flag."""
    given = {
        name.removeprefix("setting_"): value
        for name, value in vars(arguments).items()
        if name.startswith("setting_")
    }
    return check(model, given, "command line")


def add_device(arguments: argparse.ArgumentParser) -> None:
    """Add --device, shared by every stage that runs kernels."""
    arguments.add_argument(
        "--device",
        metavar="SELECTOR",
        help="OpenCL device as words found in its platform, name or type, such as 'nvidia', "
        "'intel:cpu' or 'gpu:1'; default: the first GPU, else the first CPU",
    )


def input_file(path: str) -> Path:
    """Type of an argument that must be an existing file."""
    result = Path(path)
    if result.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is a folder; give a file")
    if not result.exists():
        raise argparse.ArgumentTypeError(f"{path} does not exist")
    return result


def run(
    arguments: argparse.ArgumentParser,
    argv: Sequence[str] | None,
    body: Callable[[argparse.Namespace], None],
) -> int:
    """Parse, run the stage's body, and turn its errors into one sentence and an exit code."""
    options = arguments.parse_args(argv)
    logging.basicConfig(
        level=logging.WARNING if options.quiet else logging.INFO,
        format="%(message)s",
        stream=sys.stderr,
        force=True,
    )
    try:
        body(options)
    except InputError as error:
        print(f"{arguments.prog}: error: {error}", file=sys.stderr)
        return 1
    except DeviceError as error:
        print(f"{arguments.prog}: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"{arguments.prog}: error: {name}{error.strerror or error}", file=sys.stderr)
        return 1
    return 0
