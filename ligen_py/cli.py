"""What every stage's command line shares: flags from settings, logging, errors, exit codes.

Exit codes: 0 done; 1 the input cannot be used; 2 wrong usage, or no such device; 130 stopped by
Ctrl-C; 143 or 129 by the signals SIGTERM and SIGHUP. The sentence that says why is the last line
on stderr.
"""

import argparse
import io
import logging
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, get_args, get_origin

from ligen_py import __version__
from ligen_py.ending import PART_OF, Ended, end_with, ending_as_ctrl_c
from ligen_py.errors import (
    DeviceError,
    InputError,
    StoppedError,
    UsageError,
    WorkerError,
    close_to,
)
from ligen_py.settings.flags import flag

if TYPE_CHECKING:  # commands without settings do not load pydantic
    from ligen_py.settings.section import Section

log = logging.getLogger("ligen_py")

T = TypeVar("T")

FILES = {
    "ligands": "ligands file of `parse`",
    "pocket": "pocket file of `pocket`",
    "poses": "poses file of `dock`",
    "kept": "kept file of `filter`",
}
"""Files that the stages of a chunk read, and where they come from."""

COMMANDS = {
    "dock": "dock some molecules into a protein, in one line",
    "lga": "dock as AutoDock-GPU does, from maps and PDBQT files to docking logs",
    "run": "run a campaign, from its config file to the ranked molecules",
    "validate": "dock the controls of a campaign alone, before the libraries",
    "plan": "what a campaign would cost, and what a run would do now",
    "doctor": "whether this machine can run a campaign, and on which device",
    "progress": "how far a running campaign is",
    "query": "molecules of a finished campaign, by conditions, substructure or contacts",
    "compare": "the same molecules in two campaigns, or in two targets of one",
    "export": "the best molecules for other programs; any pose made again",
    "rescore": "what gnina's networks say of poses, of any program, in a receptor",
    "pick": "the best molecules to buy, no two too much alike",
    "verify": "check all files of a campaign, and dock a sample of it again",
    "tune": "find the fastest launch sizes of a device",
    "homologs": "proteins of a database that are like a query, by Smith-Waterman alignment",
    "offtargets": "sites of a genome that CRISPR guides match with mismatches and bulges",
    "guides": "guides of a gene, ranked by their off-targets in a genome, with controls",
    "stage": "run a single stage by hand: ligen stage NAME",
}
"""Modules that are commands of `ligen`; any other is typed as `ligen stage NAME`."""

MODULES = {"dock": "dock_command", "lga": "lga_command"}
"""Commands whose module has another name, because a stage has theirs."""

NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$", re.IGNORECASE)
"""A number below 0, which is the value of a flag."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as a shell has it."""

SIGNALLED = 128
"""Exit code after another signal, less the signal's number, as a shell has it."""

BROKEN_PIPE = 141
"""Exit code where the reader of the output has gone, as in `ligen query ... | head`."""


class _Parser(argparse.ArgumentParser):
    """A parser that says where the words belong that a flag with several values has taken."""

    _words: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's; keeps the words for `error`."""
        self._words = sys.argv[1:] if args is None else args
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """As argparse's, with what to do where such a flag stands before words that are missing."""
        places = [str(one.metavar or one.dest) for one in self._actions if not one.option_strings]
        flags = {flag for one in self._actions if one.nargs == "+" for flag in one.option_strings}
        taker = next((word for word in self._words if word in flags), None)
        missing = message.partition("are required: ")[2].split(", ")
        if taker and not set(places).isdisjoint(missing):
            message += f"; write {' and '.join(places).lower()} before {taker}"
        super().error(message + self._dashed(message))

    def _dashed(self, message: str) -> str:
        """What to do where a value that begins with '-' was taken for a flag; else nothing."""
        found = re.match(r"argument (\S+): expected ", message)
        names = found[1].split("/") if found else []
        for place, word in enumerate(self._words):
            action = self._option_string_actions.get(word)
            if action is None or word not in names:
                continue
            several = action.nargs if isinstance(action.nargs, int) else 0
            for value in self._words[place + 1 :][: several or 1]:
                if value.startswith("-") and value not in self._option_string_actions:
                    write = f'" {value}", with a blank before it' if several else f"{word}={value}"
                    return f"; write {write}"
        return ""


def parser(
    module: str, description: str | None, *settings: "type[Section]"
) -> argparse.ArgumentParser:
    """The argument parser of a module, one flag per setting with unit and default.

    The first paragraph of `description` (the module's docstring) becomes the help's opening.
    """
    name = module.removeprefix("ligen_py.")
    command = {module: command for command, module in MODULES.items()}.get(name, name)
    own = command in COMMANDS and (command == name) != (command in MODULES)
    result = _Parser(
        prog=f"ligen {command}" if own else f"ligen stage {name}",
        description=(description or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    # Python's own takes -5. and -1e1 for flags.
    result._negative_number_matcher = NEGATIVE
    result.add_argument("--version", action="version", version=f"ligen_py {__version__}")
    result.add_argument("--quiet", action="store_true", help="only warnings and errors")
    for model in settings:
        title = model.__name__.removesuffix("Settings").lower() if len(settings) > 1 else "settings"
        add_settings(result.add_argument_group(title), model)
    return result


def add_settings(group: Any, settings: "type[Section]") -> None:
    """Add a flag for each setting of a section to a group of a parser."""
    properties = settings.model_json_schema()["properties"]
    for name, field in settings.model_fields.items():
        kind, count = _kind(field.annotation)
        options: dict[str, Any] = {
            "dest": f"{settings.__name__}.{name}",
            "default": argparse.SUPPRESS,
            "nargs": count,
        }
        schema = properties[name]
        if count == "+":  # a list in one flag, or in several
            options["action"] = "extend"
        if kind is bool:  # the flag alone means true
            options |= {"nargs": "?", "const": "True"}
        choices = schema.get("enum") or schema.get("items", {}).get("enum")
        if choices:
            options["choices"] = choices
        else:
            options["metavar"] = {int: "N", float: "X"}.get(kind, "VALUE")
        default = field.get_default(call_default_factory=True)
        if isinstance(default, tuple):
            default = " ".join(str(item) for item in default)
        shown = "" if default in (None, "") else f" (default: {default})"
        form = "; as JSON" if get_origin(kind) is dict else ""
        words = f"{field.description}{form}{shown}"
        group.add_argument(flag(settings, name), help=words, **options)


def _kind(annotation: Any) -> tuple[Any, int | str | None]:
    """The type of a setting's words, and how many follow its flag: a number, "+", or None for 1."""
    some = [part for part in get_args(annotation) if part is not type(None)]
    if type(None) in get_args(annotation):
        return _kind(some[0])
    if get_origin(annotation) is tuple:
        return some[0], "+" if some[-1] is Ellipsis else len(some)
    return annotation, None


def settings_from(model: "type[Section]", arguments: argparse.Namespace) -> Any:
    """The settings a command line asks for, checked; InputError names the flag."""
    from ligen_py.settings.check import check

    prefix = f"{model.__name__}."
    given = {
        name.removeprefix(prefix): value
        for name, value in vars(arguments).items()
        if name.startswith(prefix)
    }
    return check(
        model, given, "command line", name=lambda path: flag(model, path.partition(".")[0])
    )


def section_from(model: "type[Section]", words: str, where: str) -> Any:
    """The settings that stand in one word of a command line, as flags.

    Raises UsageError that names the flag `where` they stand, InputError that names the setting.
    """
    arguments = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_settings(arguments, model)
    try:
        found, unknown = arguments.parse_known_args(shlex.split(words))
    except (argparse.ArgumentError, ValueError) as error:
        raise UsageError(f"{where}='{words}': {error}") from error
    if unknown:
        known = [flag(model, name) for name in model.model_fields]
        raise UsageError(f"{where}='{words}': unknown {unknown[0]}{close_to(unknown[0], known)}")
    return settings_from(model, found)


EACH = "several, a process each: 'gpu:0,1', or 'all' for every GPU"
"""What stages say of --device that use several devices at a time."""


def add_device(arguments: argparse.ArgumentParser, several: str = "") -> None:
    """Add --device, shared by every stage that runs kernels; `several`: what several devices do."""
    arguments.add_argument(
        "--device",
        metavar="SELECTOR",
        help="OpenCL device as words found in its platform, name or type, such as 'nvidia', "
        "'intel:cpu' or 'gpu:1'; default: the first GPU, else the first CPU"
        + (f"; {several}" if several else ""),
    )


def add_inputs(arguments: argparse.ArgumentParser, names: Sequence[str], **others: str) -> None:
    """Add the files that a stage of a chunk reads, by `FILES`; `others` is what else is said."""
    for name in names:
        what = others.get(name, FILES[name])
        arguments.add_argument(f"--{name}", type=input_file, required=True, help=what)


def add_outputs(arguments: argparse.ArgumentParser, file: str, tables: str) -> None:
    """Add --output and --tables of a search, with what they say of themselves."""
    arguments.add_argument("--output", type=_output_file, help=file)
    arguments.add_argument("--tables", type=_output_folder, help=tables)


def _output_folder(path: str) -> Path:
    """Type of an argument for a folder to write into; its error comes before hours of work."""
    result = Path(path)
    try:
        there = next(place for place in (result, *result.absolute().parents) if place.exists())
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{path}: cannot be read ({error.strerror})") from error
    if not there.is_dir():
        raise argparse.ArgumentTypeError(f"{there} is a file; give a folder to write into")
    if not os.access(there, os.W_OK):
        raise argparse.ArgumentTypeError(
            f"{path} cannot be written; name another place, or change its permissions"
        )
    return result


def _output_file(path: str) -> Path:
    """Type of an argument for a file to write; its error comes before hours of work."""
    _output_folder(str(Path(path).parent))
    if Path(path).is_dir():
        raise argparse.ArgumentTypeError(f"{path} is a folder; give a file")
    return Path(path)


def add_deep(arguments: argparse.ArgumentParser) -> None:
    """Add --deep, shared by the commands that compare a campaign with its sources."""
    arguments.add_argument(
        "--deep",
        action="store_true",
        help="read every library and structure again to see whether it has changed (default: "
        "those whose size or times differ from the last run's; some file systems keep no time of "
        "change)",
    )


def input_file(path: str) -> Path:
    """Type of an argument that must be an existing file."""
    result = Path(path)
    try:
        if result.is_dir():
            raise argparse.ArgumentTypeError(f"{path} is a folder; give a file")
        if not result.exists():
            raise argparse.ArgumentTypeError(f"{path} does not exist")
        if not result.is_file():
            raise argparse.ArgumentTypeError(f"{path} is a pipe or a device; give a file")
    except OSError as error:  # a folder on the way is closed, or the name is too long
        raise argparse.ArgumentTypeError(f"{path}: cannot be read ({error.strerror})") from error
    return result


def parsed(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Type of an argument that a function reads, whose ValueError says what is wrong with it."""

    def value(text: str) -> T:
        """The argument's value; argparse's error with the function's words."""
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return value


def at_least(least: int) -> Callable[[str], int]:
    """Type of an argument that must be a whole number, not below `least`."""

    def number(text: str) -> int:
        """The argument's value; argparse's error, which names the text, for all else."""
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"{text}: give a whole number, {least} or more")
        return value

    return number


def run(
    arguments: argparse.ArgumentParser,
    argv: Sequence[str] | None,
    body: Callable[[argparse.Namespace], None],
) -> int:
    """Parse, run the stage's body, and turn its errors into one sentence and an exit code."""
    _take_any_character()
    options = arguments.parse_args(argv)
    logging.basicConfig(
        level=logging.WARNING if options.quiet else logging.INFO,
        format="%(message)s",
        stream=sys.stderr,
        force=True,
    )
    _require_streams()
    try:
        with ending_as_ctrl_c():
            if PART_OF in os.environ:
                end_with(os.environ[PART_OF])
            _keep_inputs(options)
            body(options)
            sys.stdout.flush()
    except (InputError, WorkerError) as error:
        return _stop(arguments, str(error), 1)
    except (UsageError, DeviceError) as error:
        return _stop(arguments, str(error), 2)
    except Ended as ended:
        return _stop(arguments, f"stopped by {ended.name}", SIGNALLED + ended.value)
    except KeyboardInterrupt:
        return _stop(arguments, "stopped as asked", INTERRUPTED)
    except StoppedError as error:
        return _stop(arguments, str(error), 128 + error.number)
    except BrokenPipeError:
        _throw_away_the_rest()
        return BROKEN_PIPE
    except OSError as error:
        return _stop(arguments, refused(error), 1)
    except MemoryError:
        cure = "give the job more memory, or cut the library into more chunks"
        return _stop(arguments, f"the memory is full; {cure}", 1)
    except Exception as error:
        # Recognised by its name, because only the folder `opencl` imports pyopencl.
        if not type(error).__module__.startswith("pyopencl"):
            raise
        cure = "run it again, or choose another device with --device"
        return _stop(arguments, f"the device failed: {error}; {cure}", 2)
    return 0


def _keep_inputs(options: argparse.Namespace) -> None:
    """Raise InputError where the output would replace an input, which may have no copy.

    UsageError where it is "-", which is no file but standard output elsewhere.
    """
    given = vars(options).copy()
    output = given.pop("output", None)
    if not isinstance(output, Path):
        return
    if output == Path("-"):
        raise UsageError(
            "--output -: name a file; query, compare and pick print where --output is left out"
        )
    for name, value in given.items():
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, Path | str):
                keep_input(output, Path(path), genome=name == "genome")


def keep_input(output: Path | None, path: Path, genome: bool = False) -> None:
    """Raise InputError where an output would replace an input, or a file in a genome's folder."""
    if output is None or not output.is_file():
        return
    place = output.resolve()
    # A folder of a genome has no other files.
    if path.resolve() in ((place, place.parent) if genome else (place,)):
        cure = "name another with --output"
        raise InputError(f"{output}: is an input, and would be replaced; {cure}")


def _take_any_character() -> None:
    """Write names in any script, whatever the locale: files and pipes get UTF-8.

    A terminal of another encoding shows an escape for it. Else a letter that the locale lacks
    would end a campaign, and `report.txt` would have other bytes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and "utf" not in stream.encoding.lower():
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _require_streams() -> None:
    """Give a process that was started without a terminal's streams something to write into.

    Else the next file that is opened takes the place of its standard output.
    """
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 (for the rest of the process)
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def refused(error: OSError) -> str:
    """What the system refused, in words; of two files the second one is written."""
    why = error.strerror or str(error)
    if error.filename:
        return f"{error.filename2 or error.filename}: {why}"
    _throw_away_the_rest()
    try:
        folder = gettempdir()
    except FileNotFoundError as nowhere:
        return f"{nowhere.strerror}; make room in one of them, or set TMPDIR to a folder of yours"
    return (
        f"standard output, or a temporary file in {folder}, cannot be written ({why}); "
        "send the output elsewhere, or set TMPDIR"
    )


def _throw_away_the_rest() -> None:
    """Write what standard output has left, or throw it away where it takes no more."""
    try:
        sys.stdout.flush()
    except OSError:
        # Python would complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop(arguments: argparse.ArgumentParser, sentence: str, status: int) -> int:
    _throw_away_the_rest()
    with suppress(OSError):
        print(f"{arguments.prog}: error: {sentence}", file=sys.stderr)
    return status
