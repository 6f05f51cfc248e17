"""The command line: ``rbdae models``, ``solvers``, ``run``, ``compare``, ``export``, ``cache``, and commands of other
packages.

`_OPTIONS` defines each option once; its name is the argument's name in the function that takes it.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import inspect
import multiprocessing
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import nullcontext
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import rbdae
from rbdae import _check, study
from rbdae._arrays import Vec
from rbdae.formulations import FORMULATIONS
from rbdae.handover import test_set
from rbdae.machine import cache
from rbdae.models import MODELS
from rbdae.output_files import replacing, writable, write_csv
from rbdae.problem.observables import further
from rbdae.rotations import CHARTS
from rbdae.show import check_report, facts

_MODEL = "a name from `rbdae models`, or FILE.py:FUNCTION, a function that returns a rbdae.System"
_FILE: dict[str, Any] = {"type": Path, "metavar": "FILE"}
_NAMES: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
_FLAG: dict[str, Any] = {"action": "store_true"}
_NUMBERS: dict[str, Any] = {"nargs": "+", "type": float}
_MANY: dict[str, Any] = {"action": "append", "default": []}
_OPTIONS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("model", "run compare", _MODEL, {"metavar": "MODEL"}),
    ("model", "export", f"{_MODEL}; of the test set, which has all of them, one", {"metavar": "MODEL", "nargs": "?"}),
    ("--c", "export", "write the equations as C99, see `Problem.c_source`", _FILE),
    ("--cuda", "export", "write an ODE form as CUDA C++, see `Problem.cuda_source`", _FILE),
    ("--fmu", "export", "write an ODE form as an FMU 2.0 for model exchange, see `Problem.fmu`", _FILE),
    ("--test-set", "export", "write models in seven forms, C and NumPy, into FOLDER", {**_FILE, "metavar": "FOLDER"}),
    ("--formulation", "run export", f"{', '.join(FORMULATIONS)} (default: null-space)", {"default": "null-space"}),
    ("--formulations", "compare", f"default: all; {', '.join(FORMULATIONS)}", _NAMES),
    ("--rotation", "run export", f"{', '.join(CHARTS)} (default: quaternion)", {"default": "quaternion"}),
    ("--rotations", "compare", f"default: all; {', '.join(CHARTS)}", _NAMES),
    ("--velocity", "run export", "angular or coordinate; hamiltonian forms have momentum", {}),
    ("--velocities", "compare", "default: all; angular, coordinate or momentum", _NAMES),
    ("--solver", "run", "package:method, see `rbdae solvers`; default: one that is installed and fits", {}),
    ("--solvers", "compare", "default: all that are installed", _NAMES),
    ("--option", "run", "one of the solver's own options, NAME=VALUE", _MANY),
    ("--option", "compare", "one of a solver's own options, SOLVER:NAME=VALUE", _MANY),
    ("--rtol", "run", "relative tolerance (default: 1e-8)", {"type": float, "default": 1e-8}),
    ("--atol", "run", "absolute tolerance (default: the relative one)", {"type": float}),
    ("--tolerances", "compare", "rtol = atol (default: 1e-4 1e-6 1e-8)", {**_NUMBERS, "default": [1e-4, 1e-6, 1e-8]}),
    ("--step", "run", "step size, s; for fixed-step methods", {"type": float}),
    ("--steps", "compare", "step sizes of fixed-step methods, s", _NUMBERS),
    ("--t-end", "run compare", "end time, s (default: the model's); --t-end=-0.05 runs back in time", {"type": float}),
    ("--reference", "run export", "'start' centres rotation parameters at each body's start", {"default": "space"}),
    ("--redundant", "run compare export", "'minimum-norm' leaves out dependent joint equations", {"default": "error"}),
    ("--hold", "run compare export", "bodies that keep their place at the assembly; NAME:x, ...", _NAMES),
    ("--on-singularity", "run compare", "'switch' recentres rotation parameters during the run", {"default": "stop"}),
    ("--projection", "run compare", "project accepted steps onto the constraints", _FLAG),
    ("--processes", "compare", "run in this number of processes", {"type": int, "default": 1}),
    ("--limit", "compare", "give up a run after this many seconds (60)", {"type": float, "default": 60.0}),
    ("--repeats", "compare", "time short runs at most this many times (9)", {"type": int, "default": 9}),
    ("--resume", "compare", "write each finished run to FILE, and continue it", _FILE),
    ("--progress", "run compare", "show a bar (needs tqdm)", _FLAG),
    ("--csv", "run compare", "write the states of all bodies over time, or a line for each run", _FILE),
    ("--save", "run", "write the trajectory, .npz", _FILE),
    ("--json", "compare", "write runs, reference, versions and machine", _FILE),
    ("--report", "run compare", "write a page for a browser, .html", _FILE),
    ("--plot", "run compare", "write a picture (needs matplotlib)", _FILE),
    ("--clear", "cache", "remove it; it is made again when needed", _FLAG),
]
"""Each option's name, commands, help and form."""

_NEEDS = {"plot": "matplotlib", "csv": "pandas", "json": "cattrs", "resume": "cattrs", "progress": "tqdm"}
_LANGUAGES = {"c": "c_source", "cuda": "cuda_source", "fmu": "fmu"}
"""Options of ``export``, and the methods of a problem that write the file."""
_FILES = ("plot", "save", "csv", "json", "resume", "report", *_LANGUAGES)
_INPUT = (ValueError, TypeError, ImportError, OSError, rbdae.ProjectionError)
_RUN = (BrokenExecutor, RuntimeError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns 0, or 1 if the solver gave up, or 2 if the input was refused, or 130 after Ctrl-C."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    others = {point.name: point for point in entry_points(group="rbdae.commands")}
    command = others.get(typed[0]) if typed else None
    given = argparse.Namespace() if command else parser(others).parse_args(typed)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # names of files in any encoding
    with warnings.catch_warnings():
        # without the source line
        warnings.showwarning = lambda message, *_, **__: print(f"rbdae: {message}", file=sys.stderr)
        try:
            return int(command.load()(typed[1:])) if command else _COMMANDS[given.command][1](given)
        except KeyboardInterrupt:
            print("rbdae: interrupted; files that are not named above have not been written", file=sys.stderr)
            return 130
        except (Exception, SystemExit) as error:
            return _refused(error, given)


def _refused(error: BaseException, given: argparse.Namespace) -> int:
    """Report an error in one line, or with the user's line that raised it; the library's own errors propagate."""
    file = Path(str(getattr(given, "model", None)).rpartition(":")[0])
    files = [Path(frame.filename).resolve() for frame in traceback.extract_tb(error.__traceback__)]
    files += [Path(error.filename or "").resolve()] if isinstance(error, SyntaxError) else []
    if file.suffix == ".py" and "\0" not in str(file) and file.resolve() in files:
        print(f"rbdae: {file}: its code {_told(error, file)}", file=sys.stderr)
        return 2
    if not isinstance(error, (*_INPUT, *_RUN)):
        raise error
    print(f"rbdae: {error}", file=sys.stderr)
    return 1 if isinstance(error, _RUN) else 2


def parser(others: Mapping[str, EntryPoint]) -> argparse.ArgumentParser:
    """The parser; others' commands are functions that take the remaining arguments and return an exit code."""
    help_of_all = "`rbdae models` lists the models, `rbdae solvers` the solvers."
    out = argparse.ArgumentParser(prog="rbdae", description=rbdae.__doc__, epilog=help_of_all)
    out.add_argument("--version", action="version", version=f"rbdae {rbdae.__version__}")
    commands = out.add_subparsers(dest="command", required=True)
    each = {name: commands.add_parser(name, help=what, epilog=help_of_all) for name, (what, _) in _COMMANDS.items()}
    for option, takers, what, form in _OPTIONS:
        for command in takers.split():
            each[command].add_argument(option, help=what, **form)
    for name, point in others.items():
        commands.add_parser(name, help=f"a command of {point.module.partition('.')[0]}")
    return out


# ---------------------------------------------------------------- arguments


def _of(given: argparse.Namespace, function: Callable[..., Any]) -> dict[str, Any]:
    """The options that a function takes by name, if given or with a default."""
    taken = inspect.signature(function).parameters
    out = {name: value for name, value in vars(given).items() if name in taken and value is not None}
    return out | {"hold": _hold(given)} if "hold" in taken else out


def _hold(given: argparse.Namespace) -> list[str | tuple[str, str]]:
    """``NAME`` and ``NAME:x`` as `rbdae.formulate` takes them."""
    out: list[str | tuple[str, str]] = []
    for item in given.hold or ():
        name, colon, place = item.rpartition(":")
        is_place = colon and place in ("x", "y", "z", "position", "orientation")
        out.append((name, place) if is_place else item)
    return out


def _option(text: str) -> tuple[str, Any]:
    """Name and value of ``NAME=VALUE``; the value is a number, True, False, None, a tuple, or else text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"--option must be like max_step=0.01, got {text!r}; give a name, = and a value")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name.strip(), value.strip()


def _check_outputs(given: argparse.Namespace) -> None:
    """Refuse files that cannot be written and missing packages before a run that would be lost."""
    for name in _FILES:
        if (path := getattr(given, name, None)) is None:
            continue
        writable(f"--{name}", path, "run")
        if path.resolve() == Path(str(getattr(given, "model", None)).rpartition(":")[0]).resolve():
            raise ValueError(f"--{name} would write over {path}, the file of the mechanism; name another file")
        if name == "report":
            check_report(path)
    for name, package in _NEEDS.items():
        if getattr(given, name, None):
            _check.package(f"--{name}", package)
    if getattr(given, "plot", None) is not None:
        from matplotlib.backend_bases import FigureCanvasBase

        endings, ending = sorted(FigureCanvasBase.get_supported_filetypes()), given.plot.suffix
        if ending.lower()[1:] not in endings:
            raise ValueError(f"--plot: {given.plot} has the ending {ending!r}; pictures can be {', '.join(endings)}")


def _write(files: Mapping[str, tuple[Path | None, Callable[[Path], Path]]]) -> None:
    """Write the files, and print where they are."""
    for what, (path, write) in files.items():
        if path is not None:
            print(f"{what} written to {write(path)}")


def write_states(solution: rbdae.Solution, path: Path) -> Path:
    """Write times, states of all bodies, quantities of joints and forces, and registered observables: the columns of
    `Solution.to_pandas`."""
    names = ["states", "joints", "forces", *(each.name for each in further())]
    return write_csv(path, solution.to_pandas(names), index_label="t [s]")


def _write_picture(figure: Any, path: Path) -> Path:
    with replacing(path) as new:
        figure.savefig(new, dpi=150, format=path.suffix.lower().removeprefix("."))
    return path


# ---------------------------------------------------------------- the mechanism


def _target(given: argparse.Namespace) -> tuple[str, rbdae.System, str]:
    """The name, system and one-line summary of ``MODEL`` or ``FILE.py:FUNCTION``; its end time is stored in the
    arguments. Raises ValueError, TypeError or OSError for a model, file or function that does not exist, raises, or
    returns something else."""
    text, t_end = given.model, None
    file, _, function = (text, "", "") if text.endswith(".py") else text.rpartition(":")
    if file.endswith(".py"):
        name = f"{Path(file).name}:{function}"
        system, summary = _of_file(Path(file), function), f"{function} of {Path(file).name}"
    elif text in MODELS:
        name, system, t_end, summary = text, MODELS[text](), MODELS[text].t_end, MODELS[text].summary
    else:
        raise ValueError(f"{_check.unknown('model', text, MODELS, most=1)}; for your own FILE.py:FUNCTION")
    given.t_end = t_end if given.t_end is None else given.t_end
    if given.t_end is None:
        raise ValueError(f"{name} has no end time of its own; say --t-end, in seconds")
    return name, system, summary


def _of_file(path: Path, name: str) -> rbdae.System:
    module = _module(path)
    result = getattr(module, name, None) if name else None
    if result is None:
        names = [k for k, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
        raise ValueError(f"{path} has no function {name!r}; give {path}:NAME, it defines {', '.join(names) or 'none'}")
    result = result() if callable(result) else result
    if not isinstance(result, rbdae.System):
        raise TypeError(f"{path}:{name} gives {_check.show(result)}, no rbdae.System; return the system that it builds")
    return result


def _module(path: Path) -> ModuleType:
    """The file as a module under its own name, so that other processes can import it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise FileNotFoundError(f"the file {path} does not exist; give FILE.py:FUNCTION")
    if Path(getattr(sys.modules.get(path.stem, path), "__file__", None) or path).resolve() != path.resolve():
        raise ValueError(f"{path}: Python has another module {path.stem!r}; rename the file")
    sys.path.insert(0, str(path.resolve().parent))
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _told(error: BaseException, path: Path) -> str:
    """The error raised by the user's code, with the last line of the file that led to it."""
    said = f"raised {type(error).__name__}: {error}"
    if isinstance(error, SystemExit):
        said = f"ended the program (exit code {error.code}); raise an exception in its place"
    if isinstance(error, SyntaxError):
        return f'{said}\n  File "{path}", line {error.lineno}\n    {(error.text or "").strip()}'
    lines = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve() == path.resolve()]
    return said + "".join(f'\n  File "{path}", line {f.lineno}, in {f.name}\n    {f.line}' for f in lines[-1:])


# ---------------------------------------------------------------- commands


def _run(given: argparse.Namespace) -> int:
    """Integrate one mechanism. Returns 0, 1 if the solver gave up, or 130 after Ctrl-C, when the files hold the run so
    far."""
    solver_options = dict(map(_option, given.option))
    _check_outputs(given)
    name, system, _ = _target(given)
    problem = rbdae.formulate(system, **_of(given, rbdae.formulate))
    options = {"atol": given.rtol} | _of(given, rbdae.solve)
    interrupted = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rbdae.FailedRunWarning)  # its message is printed below
            solution = rbdae.solve(problem, (problem.t0, given.t_end), **options, **solver_options)
    except KeyboardInterrupt as error:
        so_far = getattr(error, "solution", None)
        if not isinstance(so_far, rbdae.Solution):
            raise
        solution, interrupted = so_far, True
    print(_summary(name, solution))
    _write(
        {
            "trajectory": (given.save, solution.save),
            "states": (given.csv, lambda path: write_states(solution, path)),
            "report": (given.report, lambda path: solution.report(path, title=name)),
            "picture": (given.plot, lambda path: _write_picture(solution.plot(), path)),
        }
    )
    if not solution.success:
        print(f"rbdae: {solution.message}", file=sys.stderr)
        return 130 if interrupted else 1
    return 0


def _summary(model: str, solution: rbdae.Solution) -> str:
    lines = [f"{name:12}{said}" for name, said in [("model", model), *facts(solution)]]
    lines += [f"at t = {solution.t[-1]:.9g} s"] if len(solution.t) else []
    for name, state in solution.states.items() if len(solution.t) else ():
        quaternion = np.roll(state.orientation[-1].as_quat(), 1)
        lines += [
            f"  {name}: position          {_numbers(state.position[-1])} m",
            f"  {name}: orientation       {_numbers(quaternion)} (scalar first)",
            f"  {name}: velocity          {_numbers(state.velocity[-1])} m/s",
            f"  {name}: angular velocity  {_numbers(state.angular_velocity[-1])} rad/s, body frame",
        ]
    return "\n".join(lines)


def _numbers(values: Vec) -> str:
    return " ".join(f"{x:+.8e}" for x in values)


def _compare(given: argparse.Namespace) -> int:
    """Run one mechanism in many forms. Returns 0, 1 if no run reached its end, or 130 after Ctrl-C, when the files hold
    the finished runs."""
    options: dict[str, dict[str, Any]] = {}
    for name, value in map(_option, given.option):
        solver, _, option = name.rpartition(":")
        if ":" not in solver:
            raise ValueError(
                f"--option must be like scipy:DOP853:max_step=0.01, got {name!r}; put the solver before it"
            )
        options.setdefault(solver, {})[option] = value
    _check_outputs(given)
    _check.package("rbdae compare", "pandas")  # the table, which comes last
    if given.processes < 1:
        raise ValueError(f"--processes must be at least 1, got {given.processes}; 1 runs in this process")
    _, system, summary = _target(given)
    cases = study.cases(**_of(given, study.cases) | {"options": options})
    print(f"{summary}: {len(cases)} cases", flush=True)
    # a fork of a process that has compiled kernels is not safe everywhere; a new one loads them from the cache
    new = multiprocessing.get_context("spawn")
    interrupted = False
    try:
        with nullcontext() if given.processes == 1 else ProcessPoolExecutor(given.processes, new) as executor:
            how = _of(given, study.compare)
            compared = study.compare(system, chosen=cases, executor=executor, **how)
    except KeyboardInterrupt as error:
        so_far = getattr(error, "comparison", None)
        if not isinstance(so_far, study.Comparison) or not so_far.rows:
            raise
        compared, interrupted = so_far, True
    if compared.resumed:
        print(f"{compared.resumed} runs were in {given.resume}")
    print(compared)
    reached = any(row.errors is not None for row in compared.rows)
    if given.plot is not None and not reached:
        print("rbdae: no picture, because no run reached its end", file=sys.stderr)
    _write(
        {
            "table": (given.csv, compared.to_csv),
            "results": (given.json, compared.to_json),
            "report": (given.report, compared.report),
            "picture": (given.plot if reached else None, lambda path: _write_picture(compared.plot(), path)),
        }
    )
    if interrupted:
        again = f"; type the same again to continue with {given.resume}" if given.resume else ""
        print(f"rbdae: interrupted after {len(compared.rows)} runs{again}", file=sys.stderr)
        return 130
    return 0 if reached else 1


def _export(given: argparse.Namespace) -> int:
    files = {what: path for what in _LANGUAGES if (path := getattr(given, what)) is not None}
    if not files and given.test_set is None:
        raise ValueError(f"export: say what to write, --{' FILE, --'.join(_LANGUAGES)} FILE or --test-set FOLDER")
    _check_outputs(given)
    if files:
        if given.model is None:
            raise ValueError(f"export: --{next(iter(files))} takes one model; give {_MODEL}")
        given.t_end = 0.0  # nothing is run
        problem = rbdae.formulate(_target(given)[1], **_of(given, rbdae.formulate))
        _write({what: (path, getattr(problem, _LANGUAGES[what])) for what, path in files.items()})
    if given.test_set is not None:
        for name in (chosen := MODELS if given.model is None else [given.model]):
            if name not in MODELS:
                raise _check.unknown("model", name, MODELS, most=1)
        _write({"test set": (given.test_set, lambda folder: test_set.write(folder, map(_entry, chosen)))})
    return 0


def _entry(name: str) -> test_set.Entry:
    problems: dict[str, Any] = {}
    for form in test_set.FORMS:
        try:
            problems[form] = rbdae.formulate(MODELS[name](), form, redundant="minimum-norm")
        except (ValueError, rbdae.ProjectionError) as error:
            problems[form] = str(error)
    return test_set.Entry(name, MODELS[name].summary, rbdae.models.reference(name), problems)


def _models(given: argparse.Namespace) -> int:
    width = max(map(len, MODELS))
    for name, entry in MODELS.items():
        print(f"{name:{width}}  {entry.summary}; to t = {entry.t_end:g} s")
    return 0


def _solvers(given: argparse.Namespace) -> int:
    print(rbdae.solvers())
    return 0


def _show_cache(given: argparse.Namespace) -> int:
    """Show or clear the cache on disk. Returns 0, or 1 if something could not be removed."""
    home, entries = cache.user_cache(), cache.entries()
    if home is None:
        place = cache.ENVIRONMENT
        print(f"there is no cache: this user has no home folder; set {place} to a folder of your own")
        return 0
    size = f"{sum(entry.n_bytes for entry in entries) / 1e6:.1f} MB"
    print(f"cache in {home}")
    print(f"  machine code  {len(entries):6} entries  {size:>9}" if entries else "  empty")
    left = cache.clear() if given.clear else []
    for entry in left:
        print(f"rbdae: {entry.path} could not be removed", file=sys.stderr)
    if given.clear and entries and not left:
        print("removed; code will be compiled again when needed")
    return 1 if left else 0


_COMMANDS: dict[str, tuple[str, Callable[[argparse.Namespace], int]]] = {
    "models": ("list the mechanisms that can be run", _models),
    "solvers": ("list the solvers, installed or not", _solvers),
    "run": ("integrate a mechanism and print the result", _run),
    "compare": ("run a mechanism through formulations and solvers", _compare),
    "export": ("write a mechanism in other languages, or a test set for DAE codes", _export),
    "cache": ("show the compiled code kept on disk between processes", _show_cache),
}
