"""A problem as a Functional Mock-up Unit (fmi-standard.org, 2.0 and 3.0): a description, the model in C with fmu.c around
it, and both compiled, where a compiler is."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from rbdae import _check
from rbdae._version import __version__
from rbdae.graph.derivatives import inputs_of, tangents
from rbdae.graph.graph import Graph
from rbdae.graph.replacing import replaced
from rbdae.handover.c import function_text, identifiers, source, table
from rbdae.handover.recorded import Function, Handed
from rbdae.multibody.recorded.recording import Recording

VERSIONS = ("2.0", "3.0")
_KINDS = {"model-exchange": "ModelExchange", "co-simulation": "CoSimulation"}

_TOLERANCE = 1e-8
"""The start of the tolerance of co-simulation, as in fmu.c."""


class Variable(NamedTuple):
    """A variable; its value reference is its place among all. `state` is that of a rate."""

    name: str
    causality: str
    variability: str = "continuous"
    initial: str = ""
    start: float | None = None
    unit: str = ""
    state: int | None = None


def write(problem: Any, path: str | Path, version: str, kind: str) -> Path:
    """`rbdae.Problem.fmu`."""
    if version not in VERSIONS:
        raise _check.unknown("version", version, VERSIONS)
    if kind not in _KINDS:
        raise _check.unknown("kind", kind, _KINDS)
    if problem.kind != "ode":
        raise ValueError(
            f"fmu: {problem.formulation} is a DAE, and an FMU has rates of its states; take index-0, null-space or "
            "hamiltonian-eliminated, or hand the DAE over by problem.c_source"
        )
    path, handed = Path(path), Handed(problem)
    (name,), layer = identifiers([path.stem]), f"fmu{version[0]}.c"
    variables = _variables(handed, kind)
    model = _model(handed)
    token = sha256("".join([model, version, kind, *map(repr, variables)]).encode()).hexdigest()[:32]
    here = Path(__file__).parent
    files = {
        "sources/model.c": f'#define FMU_TOKEN "{token}"\n{model}',
        **{f"sources/{file}": (here / file).read_text() for file in ("fmu.c", layer)},
        "modelDescription.xml": _description(version, _KINDS[kind], name, token, variables),
    }
    if version == "3.0":
        files["sources/buildDescription.xml"] = _build_description(name, layer)
    with TemporaryDirectory() as folder, ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for place, text in files.items():
            archive.writestr(ZipInfo(place), text, ZIP_DEFLATED)  # no times: the same problem is the same file
            (Path(folder) / Path(place).name).write_text(text)
        if compiled := _compiled(Path(folder), layer, version, name):
            archive.writestr(ZipInfo(compiled[0]), compiled[1].read_bytes(), ZIP_DEFLATED)
    return path


# ---- the model


def _variables(handed: Handed, kind: str) -> list[Variable]:
    """Those of a problem, in the order of fmu.c."""
    problem, units = handed.problem, {u.name: u.unit for u in handed.problem.system.inputs}
    out = [Variable("time", "independent", unit="s")]
    out += [Variable(x, "local", initial="exact", start=y) for x, y in zip(problem.labels, problem.y0, strict=True)]
    out += [Variable(f"der({x})", "local", initial="calculated", state=k + 1) for k, x in enumerate(problem.labels)]
    out += [Variable(x, "input", start=value, unit=units[x]) for x, value in handed.inputs.items()]
    if kind == "co-simulation":
        out.append(Variable("tolerance", "parameter", "tunable", "exact", _TOLERANCE))
    known = dict[str, int]()
    for k, x in enumerate(out):
        name = "".join(letter if letter.isprintable() else "_" for letter in x.name)  # XML has no others
        known[name] = known.get(name, 0) + 1
        out[k] = x._replace(name=name if known[name] == 1 else f"{name} ({x.causality} {known[name]})")
    return out


def _model(handed: Handed) -> str:
    """model.c: right-hand side, outputs, derivatives along a direction."""
    names, rhs = identifiers(handed.problem.labels), handed.function("rhs")
    outputs = Function("outputs", ("t", "y"), Graph(), (), (), {}, (0,))
    along = directional(handed, [rhs, outputs])
    inputs, parameters = handed.inputs, dict[str, float]()
    return "\n\n".join(
        [
            source(handed, "model", ["rhs"]),
            f"enum {{ FMU_INPUTS = {len(inputs)}, FMU_OUTPUTS = {len(outputs.outputs)}, "
            f"FMU_PARAMETERS = {len(parameters)} }};",
            table("double", "fmu_u0", inputs.values()),
            table("double", "fmu_p0", parameters.values()),
            function_text("fmu_outputs", outputs, names, "The outputs"),
            function_text("fmu_directional", along, names, "Of rates and outputs along (c, yd) of (t, y), du after u"),
            "",
        ]
    )


def directional(handed: Handed, functions: Sequence[Function]) -> Function:
    """Derivatives of functions along a direction: c of the time, yd of y, and of u what follows it."""
    graph, outputs, guards = Graph(), list[int](), dict[int, bool]()
    for function in functions:
        found = replaced(function.graph, [*function.guards, *function.outputs], {}, graph)
        guards |= zip(found, function.guards.values(), strict=False)
        outputs += found[len(function.guards) :]
    n, n_u = handed.problem.n, len(handed.inputs)
    u = inputs_of(graph, "u", 2 * n_u)
    by = [graph.node("input", "t", 0), *inputs_of(graph, "y", n), *u[:n_u]]
    along = [graph.node("input", "c", 0), *inputs_of(graph, "yd", n), *u[n_u:]]
    rows = tangents(graph, outputs, {x: {0: d} for x, d in zip(by, along, strict=True)})
    results = [row.get(0, graph.const(0.0)) for row in rows]
    recording = Recording(graph, results, guards, [])
    return handed.shortened("directional", ("t", "y", "yd", "c"), recording, (len(results),))


def _compiled(folder: Path, layer: str, version: str, name: str) -> tuple[str, Path] | None:
    """The place of the shared library in the archive, and its file; None without a C compiler. Raises RuntimeError where
    it fails."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    system = platform.system().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    tuple_ = f"{machine}-{system}"
    old = {"linux": "linux64", "darwin": "darwin64", "windows": "win64"}
    place = old.get(system, tuple_) if version == "2.0" and machine == "x86_64" else tuple_
    file = f"{name}{ {'darwin': '.dylib', 'windows': '.dll'}.get(system, '.so') }"
    flags = ["-std=c99", "-O2", "-shared", "-fPIC", "-fvisibility=hidden"]
    done = subprocess.run(
        [compiler, *flags, layer, "-o", file, "-lm"], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"fmu: {compiler} has not compiled {layer}: {done.stderr.strip()[-500:]}")
    return f"binaries/{place}/{file}", folder / file


# ---- the descriptions


def _description(version: str, kind: str, name: str, token: str, variables: Sequence[Variable]) -> str:
    """modelDescription.xml."""
    new = version == "3.0"
    root = Element(
        "fmiModelDescription", fmiVersion=version, modelName=name, generationTool=f"rbdae {__version__}",
        variableNamingConvention="flat", **{"instantiationToken" if new else "guid": token},
    )  # fmt: skip
    state = "FMUState" if new else "FMUstate"
    can = {f"canGetAndSet{state}", f"canSerialize{state}", f"providesDirectionalDerivative{'s' if new else ''}"}
    can |= {"canHandleVariableCommunicationStepSize"} if kind == "CoSimulation" else set()
    door = SubElement(root, kind, modelIdentifier=name, **dict.fromkeys(sorted(can), "true"))
    if not new:
        SubElement(SubElement(door, "SourceFiles"), "File", name="fmu2.c")
    units = SubElement(root, "UnitDefinitions")
    for unit in sorted({x.unit for x in variables} - {""}):
        SubElement(units, "Unit", name=unit)
    categories = SubElement(root, "LogCategories")
    for category in ("logStatusDiscard", "logStatusError"):
        SubElement(categories, "Category", name=category)
    SubElement(root, "DefaultExperiment", startTime="0", tolerance="1e-8")
    listed, structure = SubElement(root, "ModelVariables"), SubElement(root, "ModelStructure")
    for reference, x in enumerate(variables):
        own = {"name": x.name, "valueReference": str(reference), "causality": x.causality, "variability": x.variability}
        own |= {"initial": x.initial} if x.initial else {}
        numbers = {"unit": x.unit} if x.unit else {}
        numbers |= {} if x.start is None else {"start": repr(float(x.start))}
        numbers |= {} if x.state is None else {"derivative": str(x.state + (not new))}
        if new:
            SubElement(listed, "Float64", own | numbers)
        else:
            SubElement(SubElement(listed, "ScalarVariable", own), "Real", numbers)
    outputs = [k for k, x in enumerate(variables) if x.causality == "output"]
    rates = [k for k, x in enumerate(variables) if x.state is not None]
    sections = {
        "Outputs" if not new else "Output": outputs,
        "Derivatives" if not new else "ContinuousStateDerivative": rates,
        "InitialUnknowns" if not new else "InitialUnknown": sorted(outputs + rates),
    }
    for section, places in sections.items():
        parent = structure if new or not places else SubElement(structure, section)
        for k in places:
            at = {"valueReference": str(k)} if new else {"index": str(k + 1)}
            SubElement(parent, section if new else "Unknown", at)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True)


def _build_description(name: str, layer: str) -> str:
    """buildDescription.xml of FMI 3.0."""
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    build = SubElement(root, "BuildConfiguration", modelIdentifier=name)
    SubElement(SubElement(build, "SourceFileSet", language="C99"), "SourceFile", name=layer)
    SubElement(build, "Library", name="m")
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True)
