"""A problem as a Functional Mock-up Unit (fmi-standard.org, 2.0 and 3.0): a description, the model in C with fmu.c
around it, and both compiled, where a compiler is."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from rbdae import _check
from rbdae._version import __version__
from rbdae.graph.derivatives import inputs_of, tangents
from rbdae.graph.graph import Graph
from rbdae.graph.replacing import replaced
from rbdae.handover.c import function_text, identifiers, table
from rbdae.handover.c_file import source
from rbdae.handover.recorded import Function, Handed
from rbdae.multibody.recorded.recording import Recording

VERSIONS = ("2.0", "3.0")
KINDS = {"model-exchange": "ModelExchange", "co-simulation": "CoSimulation"}


class Variable(NamedTuple):
    """A variable; its value reference is its place among all. `state` is that of a rate."""

    name: str
    causality: str
    variability: str = "continuous"
    initial: str = ""
    start: float | None = None
    unit: str = ""
    state: int | None = None


def write(handed: Handed, path: str | Path, version: str, kind: str, outputs: Sequence[str] | None) -> Path:
    """`rbdae.Problem.fmu`."""
    for what, given, known in (("version", version, VERSIONS), ("kind", kind, KINDS)):
        if given not in known:
            raise _check.unknown(what, given, known)
    if handed.problem.kind != "ode":
        raise ValueError(
            f"fmu: {handed.problem.formulation} is a DAE, and an FMU has rates of its states; take index-0, null-space "
            "or hamiltonian-eliminated, or hand the DAE over by problem.c_source"
        )
    path = Path(path)
    (name,), layer, here = identifiers([path.stem]), f"fmu{version[0]}.c", Path(__file__).parent
    labels, units, quantities = handed.quantities(outputs)
    read = [*zip(labels, units, strict=True), ("energy.kinetic", "J"), ("energy.potential", "J")]
    model, variables = _model(handed, [quantities, handed.energy()]), _variables(handed, read)
    token = sha256(repr((model, version, kind, variables)).encode()).hexdigest()[:32]
    files = {
        "sources/model.c": f'#define FMU_TOKEN "{token}"\n{model}',
        **{f"sources/{file}": (here / file).read_text() for file in ("fmu.c", layer)},
        "modelDescription.xml": _description(version, KINDS[kind], name, token, variables),
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


def _variables(handed: Handed, outputs: Sequence[tuple[str, str]]) -> list[Variable]:
    """The variables of a problem in the order of fmu.c."""
    problem, units = handed.problem, {u.name: u.unit for u in handed.problem.system.inputs}
    out = [Variable("time", "independent", unit="s")]
    out += [Variable(x, "local", initial="exact", start=y) for x, y in zip(problem.labels, problem.y0, strict=True)]
    out += [Variable(f"der({x})", "local", initial="calculated", state=k + 1) for k, x in enumerate(problem.labels)]
    out += [Variable(x, "input", start=value, unit=units[x]) for x, value in handed.inputs.items()]
    out += [Variable(x, "output", initial="calculated", unit=unit) for x, unit in outputs]
    out += [Variable(x, "parameter", "tunable", "exact", value) for x, value in handed.parameters.items()]
    out += [Variable("tolerance", "parameter", "tunable", "exact", 1e-8)]
    known = set[str]()
    for k, x in enumerate(out):
        name = "".join(letter if letter.isprintable() else "_" for letter in x.name)  # XML has no others
        while name in known:
            name += f" ({x.causality})"
        known.add(name)
        out[k] = x._replace(name=name)
    return out


def _model(handed: Handed, outputs: Sequence[Function]) -> str:
    """model.c: right-hand side, outputs, their derivatives along a direction."""
    names, rhs = identifiers(handed.problem.labels), handed.function("rhs")
    read = _together(handed, outputs)
    sizes = {"INPUTS": len(handed.inputs), "OUTPUTS": len(read.outputs), "PARAMETERS": len(handed.parameters)}
    sizes["CONSTRAINTS"] = handed.sizes[3]
    says = "derivatives along a direction: c of the time, yd of y, and of u what follows it"
    parts = [
        source(handed, "model", ["rhs", "project"]),
        f"enum {{ {', '.join(f'FMU_{what} = {n}' for what, n in sizes.items())} }};",
        table("double", "fmu_u0", handed.inputs.values()),
        table("double", "fmu_p0", handed.parameters.values()),
        function_text("fmu_outputs", read, names, "The outputs"),
        function_text("fmu_rhs_along", _together(handed, [rhs], along=True), names, f"Of rates, {says}"),
        function_text("fmu_outputs_along", _together(handed, outputs, along=True), names, f"Of outputs, {says}"),
    ]
    return "\n\n".join([*parts, ""])


def _together(handed: Handed, functions: Sequence[Function], along: bool = False) -> Function:
    """Functions of (t, y) as one, or their derivatives along a direction."""
    graph, outputs, guards = Graph(), list[int](), dict[int, bool]()
    for function in functions:
        found = replaced(function.graph, [*function.guards, *function.outputs], {}, graph)
        guards |= zip(found, function.guards.values(), strict=False)
        outputs += found[len(function.guards) :]
    n, n_u = handed.problem.n, len(handed.inputs)
    if along:
        u = inputs_of(graph, "u", 2 * n_u)
        by = [*inputs_of(graph, "t", 1), *inputs_of(graph, "y", n), *u[:n_u]]
        direction = [*inputs_of(graph, "c", 1), *inputs_of(graph, "yd", n), *u[n_u:]]
        rows = tangents(graph, outputs, {x: {0: d} for x, d in zip(by, direction, strict=True)})
        outputs = [row.get(0, graph.const(0.0)) for row in rows]
    arguments = ("t", "y", "yd", "c") if along else ("t", "y")
    return handed.shortened("fmu", arguments, Recording(graph, outputs, guards, []), (len(outputs),))


def _compiled(folder: Path, layer: str, version: str, name: str) -> tuple[str, Path] | None:
    """The place of the shared library in the archive, and its file; None without a C compiler. RuntimeError where it
    fails."""
    if (compiler := shutil.which("cc") or shutil.which("gcc")) is None:
        return None
    system, machine = platform.system().lower(), platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    old = {"linux": "linux64", "darwin": "darwin64", "windows": "win64"}
    place = old[system] if version == "2.0" and system in old else f"{machine}-{system}"
    file = f"{name}{ {'darwin': '.dylib', 'windows': '.dll'}.get(system, '.so') }"
    command = [compiler, "-std=c99", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", layer, "-o", file, "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"fmu: {compiler} has not compiled {layer}: {done.stderr.strip()[-500:]}")
    return f"binaries/{place}/{file}", folder / file


def _description(version: str, kind: str, name: str, token: str, variables: Sequence[Variable]) -> str:
    """modelDescription.xml."""
    new = version == "3.0"
    about = {"fmiVersion": version, "modelName": name, "generationTool": f"rbdae {__version__}"}
    about |= {"variableNamingConvention": "flat", "instantiationToken" if new else "guid": token}
    root = Element("fmiModelDescription", about)
    state = "FMUState" if new else "FMUstate"
    can = [f"canGetAndSet{state}", f"canSerialize{state}", f"providesDirectionalDerivative{'s' if new else ''}"]
    can += ["canHandleVariableCommunicationStepSize"] if kind == "CoSimulation" else []
    can += ["needsCompletedIntegratorStep"] if kind == "ModelExchange" and new else []  # 2.0 does without being told
    door = SubElement(root, kind, {"modelIdentifier": name, **dict.fromkeys(can, "true")})
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
    for k, x in enumerate(variables):
        own = {"name": x.name, "valueReference": str(k), "causality": x.causality, "variability": x.variability}
        own |= {"initial": x.initial} if x.initial else {}
        numbers = {"unit": x.unit} if x.unit else {}
        numbers |= {} if x.start is None else {"start": repr(float(x.start))}
        numbers |= {} if x.state is None else {"derivative": str(x.state if new else x.state + 1)}
        if new:
            SubElement(listed, "Float64", own | numbers)
        else:
            SubElement(SubElement(listed, "ScalarVariable", own), "Real", numbers)
    outputs = [k for k, x in enumerate(variables) if x.causality == "output"]
    rates = [k for k, x in enumerate(variables) if x.state is not None]
    derivative = "ContinuousStateDerivative" if new else "Derivative"
    for what, places in (("Output", outputs), (derivative, rates), ("InitialUnknown", sorted(rates + outputs))):
        parent = structure if new else SubElement(structure, f"{what}s")
        for k in places:
            at = {"valueReference": str(k)} if new else {"index": str(k + 1)}
            SubElement(parent, what if new else "Unknown", at)
    return _text(root)


def _build_description(name: str, layer: str) -> str:
    """buildDescription.xml of FMI 3.0."""
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    build = SubElement(root, "BuildConfiguration", modelIdentifier=name)
    SubElement(SubElement(build, "SourceFileSet", language="C99"), "SourceFile", name=layer)
    SubElement(build, "Library", name="m")
    return _text(root)


def _text(root: Element) -> str:
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")
