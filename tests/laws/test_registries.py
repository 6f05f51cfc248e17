"""Nothing public is left out of the law tests, and public values keep the promises of their kind."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from functools import cache, partial
from typing import Any, get_args

import actuator_cases
import cases
import force_cases
import inside
import numpy as np
import pytest
import samples
import test_benchmarks
from inside import (
    NO_DATA,
    SCHEMES,
    AlgebraicUnknowns,
    CompiledProjection,
    CompiledWatch,
    ConstantMass,
    Coordinate,
    Graph,
    InputSteps,
    MirroredProblem,
    Named,
    Quantity,
    RecordedValues,
    Rheonomic,
    States,
    abscissas,
    animation,
    assembly,
    assembly_report,
    block_evaluation,
    block_network,
    block_pattern,
    block_sources,
    canvas,
    choices,
    cli_target,
    code_of_kernels,
    code_text,
    collecting_elements,
    collocation,
    compiled_watch,
    consistent,
    contract,
    coordinate_reader,
    dense,
    differences,
    driven,
    element_directors,
    element_groups,
    element_numbers,
    element_recording,
    elimination_elements,
    elimination_steps,
    energy_balance,
    engines,
    filled_memory,
    given,
    input_motion,
    inputs,
    interpretation,
    joint_pairs,
    joint_pattern,
    joints_of_start,
    layout,
    loop_elements,
    machine_function,
    mass_matrix,
    matrices,
    measured,
    measures,
    memories,
    merit,
    monitor,
    moving,
    named_numbers,
    neighbours,
    newton,
    open_numbers,
    operations,
    outputs_of_problem,
    owners,
    pairing,
    parameter_tangents,
    placed,
    plan,
    plane_view,
    plotted,
    posed_loops,
    problem,
    quantities,
    quantity_event,
    reactions,
    readings,
    recorded_factors,
    recorded_quantities,
    recording,
    registry,
    report_blocks,
    report_figures,
    report_shown,
    rhs_recording,
    sampling,
    scales,
    schemes,
    segments,
    selection,
    settings,
    sides,
    solution,
    steps,
    study_stored,
    switches,
    symbol,
    timed,
    traced,
    tree_elements,
    tree_velocities,
    velocity_kind,
    velocity_selection,
    violations,
    watched,
    weighted_steps,
    workspaces,
)

import rbdae
from rbdae import (
    adapter,
    closed_form,
    drives,
    formulations,
    motion,
    papers,
    plotting,
    rotations,
    step_equations,
    study,
)
from rbdae.body import Body
from rbdae.forces import (
    AbstractForce,
    Bushing,
    Contact,
    Coulomb,
    Force,
    Friction,
    Limit,
    MotionLaw,
    Motor,
    SpringDamper,
    Torque,
    TorsionalSpringDamper,
    TranslationalSpringDamper,
    UserForce,
    element,
)
from rbdae.joints import (
    AbstractAxialJoint,
    AbstractJoint,
    Coincidence,
    Cylindrical,
    Distance,
    Dot1,
    Dot2,
    Fixed,
    Planar,
    PointOnLine,
    PointOnPlane,
    Primitive,
    Prismatic,
    Revolute,
    Rod,
    Spherical,
    Universal,
)
from rbdae.problem import Callbacks
from rbdae.rotations import CHARTS


def _problem() -> rbdae.Problem:
    return cases.problem("C", cases.REFERENCE)


def _explicit() -> rbdae.Problem:
    return cases.problem("C", cases.Pairing("index-0", "quaternion", "angular"))


def _centred() -> rbdae.Problem:
    pairing = cases.Pairing("index-0", "rotation-vector", "angular")
    return cases.formulate(cases.linked_bodies(), pairing, reference="start")


def _hamiltonian() -> rbdae.Problem:
    return cases.problem("C", cases.Pairing("hamiltonian-eliminated", "quaternion", "momentum"))


def _loop() -> rbdae.Problem:
    return cases.problem("loop", cases.Pairing("null-space", "quaternion", "angular"))


def _rubbing() -> rbdae.Problem:
    system = rbdae.System()
    body = system.add_body("body", mass=1.0, inertia=(1, 1, 1))
    rail = system.add_joint(Prismatic(system.ground, body))
    system.add_force(Coulomb(rail, 0.1, normal="reaction"))
    return rbdae.formulate(system, "index-0")


def _quiet() -> contract.Quiet:
    return contract.Quiet(machine_function.trampoline(lambda t, out: None, "to", {"out": (1,)}), 1)


def _redundant() -> rbdae.Problem:
    return cases.formulate(cases.turning_four_bar("redundant"), cases.REFERENCE, redundant="minimum-norm")


def _known() -> given.Known:
    return given.Known.of(_problem().model, ())


def _sides() -> sides.Sides:
    return sides.Sides(_problem().model, 0.0)


def _motion() -> layout.BodyMotion:
    return consistent.consistent_state(_problem().model, 0.0).motion


def _bodies() -> tuple[Body, ...]:
    return cases.linked_bodies().bodies


def _axial(free: str) -> AbstractAxialJoint:
    return force_cases.axial(*_bodies(), free)


def _plan() -> Any:
    given = (None, None, None, None, True, "stop", "due")
    return plan.planned(_problem(), (0.0, 0.1), "scipy:RK45", 1e-6, 1e-6, *given, {})


def _solution() -> rbdae.Solution:
    return rbdae.solve(_problem(), (0.0, 0.01), solver="scipy:RK45", events=[lambda t, y: t - 0.005])


def _reaction() -> reactions.Reaction:
    p = _problem()
    return p.reactions(p.t0, p.y0)["spherical-1"]["first"]


def _case() -> study.Case:
    return study.Case("index-2", "quaternion", "angular", "sksundae:ida", 1e-6)


def _comparison() -> study.Comparison:
    state = study.final_state(_problem(), 0.0, _problem().y0)
    errors = study.Errors(0.0, 0.0, 0.0)
    row = study.Row(_case(), errors, 0.0, 0.0, 0.0, adapter.Stats())
    return study.Comparison(study.Reference(0.0, (state, state), errors), (row,))


def _scene() -> plotting.Scene:
    return plotting.scene(_solution(), [0.0])


def _canvas() -> canvas.Canvas:
    return canvas.Canvas(_scene(), (np.zeros(1), {}), None, (2.0, 2.0), "")


def _panel() -> report_figures.Panel:
    t = np.linspace(0.0, 1.0, 3)
    return report_figures.Panel("energy [J]", [report_figures.Curve("total", t, t, 0)])


def _law() -> tuple[Any, Any, Any]:
    return (lambda t: 1.0 + t, lambda t: 1.0, lambda t: 0.0)


def _vector_law() -> tuple[Any, Any, Any]:
    return (lambda t: (1.0, t, 0.0), lambda t: (0.0, 1.0, 0.0), lambda t: (0.0, 0.0, 0.0))


# An example of every public final class; a new one is missing here until somebody enters it, and then is held to
# the laws below.
EXAMPLES: dict[type, Any] = {
    **{
        kind: partial(collecting_elements, model, kind)
        for kind, model in (
            (tree_elements.TreeElements, rbdae.models.chain(5)),
            (loop_elements.LoopElements, rbdae.models.n_four_bar(5)),
            (weighted_steps.WeightedSteps, rbdae.models.n_four_bar(5)),
        )
    },
    Body: lambda: _bodies()[0],
    rbdae.System: cases.linked_bodies,
    rbdae.Problem: _problem,
    inputs.Input: lambda: inputs.Input("torque", 0.5, "N m"),
    rbdae.Table: lambda: rbdae.Table((0.0, 1.0), (2.0, 3.0)),
    driven.Driven: lambda: driven.Driven(_problem(), _problem().workspace),
    outputs_of_problem.Outputs: lambda: _problem().outputs([]),
    recorded_quantities.Tangents: lambda: recorded_quantities.Tangents(_problem(), []),
    recorded_quantities.Straight: lambda: recorded_quantities.Straight(_problem().interpretation, []),
    quantity_event.EventGroup: lambda: quantity_event.EventGroup(_problem().interpretation, [], 1.0),
    quantity_event.EventFunction: lambda: _problem().event_function("spherical-1.angle", above=1.0),
    rbdae.Simulator: lambda: rbdae.Simulator(_explicit()),
    engines.InPlace: lambda: engines.InPlace(_explicit(), lambda twin: None),
    engines.InPieces: lambda: engines.InPieces(_explicit(), rbdae.solve, keeps=True),
    readings.Readings: lambda: readings.Readings(_problem()),
    InputSteps: lambda: InputSteps({}, 0.0, 1.0),
    driven.InputTangents: lambda: driven.InputTangents(_problem().workspace, _problem().n_equations),
    layout.Layout: lambda: _problem().layout,
    layout.BodyMotion: lambda: _motion(),
    Callbacks: lambda: _problem().callbacks,
    rbdae.Projection: rbdae.Projection,
    rbdae.Projector: lambda: rbdae.Projection().bind(_problem()),
    rbdae.Solution: _solution,
    solution.EventLog: lambda: _solution().events[0],
    solution.Drift: lambda: _solution().drift,
    quantities.BodyState: lambda: _problem().states(0.0, _problem().y0)["first"],
    quantities.Energy: lambda: _problem().energy(0.0, _problem().y0),
    quantities.Momentum: lambda: _problem().momentum(0.0, _problem().y0),
    quantities.Constraints: lambda: _problem().constraints(0.0, _problem().y0),
    reactions.Reaction: _reaction,
    registry.SolverInfo: lambda: rbdae.solvers()[0],
    registry.SolverTable: rbdae.solvers,
    operations.Operations: lambda: operations.Operations(1, 2, 0, 4, 0, 0, {"sin": 1}, 0),
    papers.Claim: lambda: papers.CLAIMS["A"][0],
    papers.Item: lambda: papers.ITEMS["ns-table-2"],
    papers.Comparison: lambda: papers.expect("multipliers", 5, papers.close(5)),
    papers.Criterion: lambda: papers.at_least(1.0),
    papers.Settings: lambda: papers.Settings(quick=True),
    papers.Finding: lambda: papers.Finding(("t [s]",), [(0.0,)], ()),
    rbdae.models.Entry: lambda: rbdae.models.MODELS["heavy_top"],
    closed_form.FreeBody: lambda: closed_form.FreeBody((1, 2, 3), (0.1, 2, 0.3)),
    closed_form.SymmetricTop: lambda: closed_form.SymmetricTop(1.0, 0.5, 2.0),
    step_equations.MidpointStep: lambda: step_equations.MidpointStep(
        step_equations.MidpointState((0, 0, 1), np.eye(3), (0, 0, 0), (1, 2, 3)),
        0.1,
        1.0,
        (1, 2, 2),
        (0, 0, 1),
        (0, 0, -9),
    ),
    rotations.Chart: lambda: rotations.CHARTS["quaternion"],
    rotations.ChartFunctions: lambda: rotations.ChartFunctions("here", rotations.CHARTS["directors"], "directors"),
    Spherical: lambda: Spherical(*_bodies()),
    Revolute: lambda: Revolute(*_bodies()),
    Prismatic: lambda: Prismatic(*_bodies()),
    Cylindrical: lambda: Cylindrical(*_bodies()),
    Planar: lambda: Planar(*_bodies()),
    Universal: lambda: Universal(*_bodies()),
    Fixed: lambda: Fixed(*_bodies()),
    Rod: lambda: Rod(*_bodies()),
    PointOnLine: lambda: PointOnLine(*_bodies()),
    PointOnPlane: lambda: PointOnPlane(*_bodies()),
    Coincidence: lambda: Coincidence((1, 0, 0), (0, 1, 0)),
    Dot1: lambda: Dot1((1, 0, 0), (0, 1, 0)),
    Dot2: lambda: Dot2((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    Distance: lambda: Distance((1, 0, 0), (0, 1, 0), 1.0),
    drives.PrescribedAngle: lambda: drives.PrescribedAngle(Revolute(*_bodies()), _law()),
    drives.PrescribedDisplacement: lambda: drives.PrescribedDisplacement(Prismatic(*_bodies()), _law()),
    drives.DrivenRod: lambda: drives.DrivenRod(*_bodies(), _law()),
    drives.PointMotion: lambda: drives.PointMotion(*_bodies(), _vector_law()),
    motion.Motion: lambda: motion.Motion("drive", _law(), 1),
    posed_loops.SpatialMotion: lambda: posed_loops.SpatialMotion.of(_problem(), 0.0, _problem().y0),
    posed_loops.WantedCoordinate: lambda: posed_loops.WantedCoordinate(
        Revolute(*_bodies()), Revolute(*_bodies()).coordinates()[0], (0, 1), 0.3, None
    ),
    input_motion.InputMotion: lambda: input_motion.input_motion("drive", rbdae.System().add_input("u"), 1, None),
    Rheonomic: lambda: drives.DrivenRod(*_bodies(), _law()).rheonomic(),
    assembly_report.Assembly: lambda: rbdae.assemble(cases.linked_bodies()),
    assembly_report.Change: lambda: rbdae.assemble(cases.four_bar()).changes[0],
    assembly.Closed: lambda: assembly.Closed(_motion(), np.zeros(3), 2, _motion()),
    given.Known: _known,
    sides.Sides: _sides,
    sides.Side: lambda: sides.Side((0, 1), (0,), np.eye(3)[0], np.eye(3)[1], "opposite"),
    merit.Merit: lambda: merit.Merit(
        _known(),
        _sides(),
        joints_of_start.Joints(_problem().model, 0.0),
        np.ones(3),
    ),
    joints_of_start.Joints: lambda: joints_of_start.Joints(_problem().model, 0.0),
    Bushing: lambda: Bushing(_bodies()[0], stiffness=1.0),
    Force: lambda: Force(_bodies()[0], (1, 0, 0)),
    Torque: lambda: Torque(_bodies()[0], (1, 0, 0)),
    SpringDamper: lambda: SpringDamper(_bodies()[0], stiffness=1.0),
    TorsionalSpringDamper: lambda: TorsionalSpringDamper(_axial("revolute"), stiffness=1.0),
    TranslationalSpringDamper: lambda: TranslationalSpringDamper(_axial("prismatic"), stiffness=1.0),
    Motor: lambda: Motor(_axial("revolute"), torque=1.0),
    Friction: lambda: Friction(_axial("revolute"), 1.0),
    Contact: lambda: Contact(_bodies()[0], stiffness=1.0),
    Coulomb: lambda: Coulomb(Prismatic(*_bodies()), 0.1, normal=1.0),
    Limit: lambda: Limit(Prismatic(*_bodies()), 1.0, stiffness=1.0),
    UserForce: lambda: UserForce(_bodies()[0], max, max),
    differences.Differences: lambda: differences.Differences(max, 1e-6),
    element.TimeFunction: lambda: element.NONE,
    element.UnderReaction: lambda: element.UnderReaction(Prismatic(*_bodies()), None, 1e-6),
    MotionLaw: lambda: MotionLaw("torque", (max,), max, np.zeros(1)),
    element.PointSpring: lambda: Bushing(_bodies()[0], stiffness=1.0).elements()[0],
    element.Element: lambda: Force(_bodies()[0], (1, 0, 0)).elements()[0],
    element.StateElement: lambda: element.StateElement(max, max, ("s",), np.zeros(1)),
    element.UserElement: lambda: UserForce(_bodies()[0], max, max).elements()[0],
    formulations.base.Implicit: lambda: formulations.FORMULATIONS["index-2"].kernels,
    formulations.base.Derivative: lambda: formulations.FORMULATIONS["index-2"].kernels.jacobian,
    formulations.implicit_step.ImplicitStep: lambda: formulations.implicit_step.ImplicitStep(
        SCHEMES["QUAT.EM"].newton, SCHEMES["QUAT.EM"].advance
    ),
    formulations.base.Solved: lambda: formulations.FORMULATIONS["index-0"].kernels.solved[0][1],
    formulations.base.Explicit: lambda: formulations.FORMULATIONS["index-0"].kernels,
    tree_velocities.TreeVelocity: lambda: tree_velocities.TreeVelocity((), np.zeros((0, 6))),
    velocity_kind.VelocityKind: lambda: velocity_kind.ANGULAR,
    settings.Settings: lambda: _problem().workspace.settings,
    selection.IndependentVelocities: lambda: _loop().selection.velocities,
    selection.KeptRows: lambda: _problem().selection.rows,
    selection.Selection: lambda: _problem().selection,
    scales.Scales: lambda: _problem().model.scales,
    violations.ViolationScales: lambda: inside.violation_scales(_problem()),
    velocity_selection.Metric: lambda: velocity_selection.metric(_problem().model),
    joint_pattern.JointPattern: lambda: joint_pattern.joint_pattern(_problem().model, _problem().layout),
    memories.Preparation: memories.Preparation,
    memories.Memory: lambda: _problem().workspace.memory,
    workspaces.Workspace: lambda: _problem().workspace,
    recording.Recording: lambda: _recording(),
    parameter_tangents.ParameterTangents: lambda: parameter_tangents.ParameterTangents(
        _problem().workspace, _problem().n_equations
    ),
    named_numbers.Parameter: lambda: named_numbers.parameters(_problem().system)["gravity.z"],
    code_text.Pattern: lambda: code_text.Pattern(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)),
    code_text.CodeText: lambda: code_text.CodeText(lambda: ("", NO_DATA), None, 0),
    traced.Elsewhere: lambda: traced.Elsewhere(lambda: print, traced.Tally()),
    traced.Tally: traced.Tally,
    code_of_kernels.Code: lambda: _traced().code,
    code_of_kernels.Wanted: lambda: _wanted(),
    named_numbers.Changed: lambda: named_numbers.changed(_problem().system, {}),
    filled_memory.Filled: lambda: _problem().workspace.memory.filled,
    element_numbers.ElementNumbers: lambda: element_numbers.ElementNumbers(1),
    element_recording.Numbers: lambda: element_recording.Numbers(
        recording.opened_numbers(_problem().workspace), element_groups.groups_of(_problem().workspace)[0]
    ),
    element_directors.Directors: lambda: element_directors.Directors(
        _problem().workspace, element_groups.groups_of(_problem().workspace)[0], Graph(), []
    ),
    rhs_recording.Joint: lambda: _joint(),
    rhs_recording.Recorded: lambda: _joint().of,
    joint_pairs.PairOfJoints: lambda: joint_pairs.PairOfJoints(_joint(), 0, _joint(), 0),
    elimination_elements.Work: lambda: elimination_elements.Work(np.array([3, 3]), [(0, 1)]),
    elimination_steps.Block: lambda: elimination_steps.Block({"D": 3}),
    open_numbers.OpenNumbers: lambda: recording.opened_numbers(_problem().workspace),
    recorded_factors.FactorCode: lambda: _factor_code(),
    traced.TracedKernel: lambda: _traced(),
    newton.NewtonEquations: lambda: newton.newton_equations(_problem().workspace.arrays),
    steps.StepFunctions: lambda: inside.steps_of(_hamiltonian(), "QUAT.EM-R"),
    schemes.Scheme: lambda: SCHEMES["QUAT.EM-R"],
    rbdae.observables.Observable: lambda: rbdae.observables.TABLE["energy"],
    rbdae.observables.Part: lambda: rbdae.observables.TABLE["energy"].parts[0],
    Coordinate: lambda: _axial("revolute").coordinates()[0],
    Quantity: lambda: _axial("revolute").quantity("angle"),
    Named: lambda: vars(Revolute)["angle"],
    measured.Measured: lambda: _problem().joints(0.0, _problem().y0)["spherical-1"],
    measures.Measures: lambda: _problem().interpretation.measures(0.0, _problem().y0),
    owners.Owners: lambda: _problem().interpretation.owners,
    owners.Owner: lambda: _problem().interpretation.owners.joints["spherical-1"],
    coordinate_reader.CoordinateReader: lambda: _problem().interpretation.coordinate_reader,
    rbdae.Event: lambda: rbdae.Event("spherical-1.angle", above=0.5),
    interpretation.Interpretation: lambda: _problem().interpretation,
    States: lambda: States(lambda what: np.zeros((3, 1, 3)), True),
    reactions.Loads: lambda: _problem().interpretation.loads,
    moving.Moving: lambda: moving.Moving(_centred()),
    timed.Timed: lambda: timed.Timed((_problem(), _problem()), (0.5,)),
    problem.Start: lambda: _problem().start,
    ConstantMass: lambda: _problem().with_constant_mass(),
    matrices.Matrices: lambda: _problem().matrices(0.0, _problem().y0),
    matrices.MatrixView: lambda: matrices.MatrixView(_problem().workspace),
    matrices.BlockMatrix: lambda: matrices.BlockMatrix(_problem().workspace, mass_matrix, 12, 12),
    block_pattern.BlockPattern: lambda: block_pattern.block_pattern(np.array([[0, 0, 2, 2]]), 2, 2),
    switches.VelocitySwitch: lambda: _loop().switches()[0],
    switches.FrictionSwitch: lambda: _rubbing().switches()[0],
    switches.RowSwitch: lambda: _redundant().switches()[0],
    switches.ChartSwitch: lambda: cases.formulate(
        cases.built("C"), cases.Pairing("index-0", "bryant-321", "angular")
    ).switches()[0],
    switches.ChartPolicy: switches.ChartPolicy,
    contract.Ending: lambda: contract.Ending("too near"),
    contract.Quiet: lambda: _quiet(),
    CompiledWatch: lambda: compiled_watch([_quiet()]),
    CompiledProjection: lambda: _projected_in_loops(),
    choices.Choices: lambda: choices.check_choices("index-2", "quaternion", None, {}, "error", "space"),
    consistent.ConsistentState: lambda: consistent.consistent_state(_problem().model, 0.0),
    plan.Plan: lambda: _plan(),
    segments.Segments: lambda: _solution().segments,
    energy_balance.EnergyOfRun: lambda: _solution().energy,
    dense.DenseOutput: lambda: _solution().dense,
    collocation.Piece: lambda: collocation.piece(lambda t, y: y, np.array([0.0, 0.1]), np.ones((2, 1)), np.ones(1)),
    neighbours.Neighbours: lambda: neighbours.neighbours(np.arange(4.0), np.ones((4, 1)), 1, np.ones(1)),
    monitor.Monitor: lambda: monitor.Monitor(_problem(), monitor.Pending()),
    MirroredProblem: lambda: MirroredProblem(_problem()),
    watched.WatchedProblem: lambda: watched.WatchedProblem(_problem(), monitor.Monitor(_problem(), monitor.Pending())),
    study.Case: _case,
    study.Row: lambda: _comparison().rows[0],
    study.Comparison: lambda: _comparison(),
    study.FinalState: lambda: study.final_state(_problem(), 0.0, _problem().y0),
    study.Errors: lambda: study.Errors(1.0, 2.0, 3.0),
    study.Reference: lambda: _comparison().reference,
    study.Provenance: lambda: study.Provenance.of(cases.heavy_top(), ["scipy:RK45"]),
    study.Ranking: lambda: _comparison().ranking(),
    study.Target: lambda: _comparison().ranking().targets[0],
    study.Place: lambda: _comparison().ranking().targets[0].places[0],
    study.Failure: lambda: study.Failure("it was too hard", _comparison().rows),
    plotting.Scene: lambda: _scene(),
    plotting.Line: lambda: _scene().lines[0],
    placed.Placed: lambda: placed.placed(_problem(), np.array([0.0]), _problem().y0[None]),
    plotted.Panel: lambda: plotted.Panel("energy [J]", ("total",), np.zeros(2), np.zeros((2, 1))),
    canvas.Canvas: lambda: _canvas(),
    animation.Animation: lambda: animation.Animation(_scene(), _canvas, 30.0, 100.0),
    symbol.Symbol: lambda: symbol.Symbol("force", ((_bodies()[0], np.zeros(3)),)),
    report_blocks.Cell: lambda: report_blocks.cell(1.0),
    report_blocks.Facts: lambda: report_blocks.Facts((("solver", "scipy:RK45"),)),
    report_blocks.Text: lambda: report_blocks.Text("done"),
    report_blocks.Items: lambda: report_blocks.Items(("one", "two")),
    report_blocks.Code: lambda: report_blocks.Code("rbdae models"),
    report_blocks.Table: lambda: report_blocks.table("work", {"count": "", "number": ""}, [("steps", 3)]),
    report_blocks.Figure: lambda: report_figures.over_time("energy", [_panel()]),
    report_blocks.Animation: lambda: report_blocks.Animation("motion", "{}", {}, 300),
    report_blocks.Section: lambda: report_blocks.Section("Summary", (report_blocks.Text("done"),)),
    report_blocks.Page: lambda: report_blocks.Page("A run", "two bodies", "done", "good", ()),
    report_figures.Panel: lambda: _panel(),
    report_figures.Curve: lambda: _panel().curves[0],
    report_shown.Shown: lambda: report_shown.Shown(_solution(), _solution(), ("top",)),
    abscissas.Abscissa: lambda: abscissas.abscissa(_solution(), None, "plot"),
    cli_target.Target: lambda: cli_target.target("heavy_top"),
    **{kind: partial(actuator_cases.one, kind) for kind in actuator_cases.EXAMPLES},
    rbdae.Points: lambda: rbdae.Points(*_bodies()),
    block_network.Network: lambda: _network(),
    RecordedValues: lambda: _network().recorded_values,
    AlgebraicUnknowns: lambda: AlgebraicUnknowns(_problem()),
    block_evaluation.Motion: lambda: _network().motion_of(_network().blocks[0]),
    block_evaluation.Evaluation: lambda: block_evaluation.Evaluation(_network(), {}, 0.0, np.zeros(60)),
    block_sources.Owners: lambda: block_sources.Owners(cases.linked_bodies().joints),
    sampling.Samples: lambda: sampling.Samples([actuator_cases.one(rbdae.Sampled)], 0.0, 1.0),
    sampling.AllChanges: lambda: sampling.AllChanges([]),
    plane_view.Plane: lambda: plane_view.Plane(("x", "y", "z"), np.eye(3)),
    study_stored.ResultsFile: lambda: study_stored.ResultsFile("no-file.jsonl", "key"),
}


@cache
def _network() -> block_network.Network:
    system = actuator_cases.system_of(rbdae.actuators.MaxwellElement)
    (found,) = block_network.networks(system.forces, system.joints)
    return found


def _joint() -> rhs_recording.Joint:
    workspace = rbdae.formulate(rbdae.models.chain(3), "index-0").workspace
    group = next(group for group in element_groups.groups_of(workspace) if group.primitives.shape[1] and group.pair)
    return rhs_recording.Joint(workspace, group, rhs_recording.own_records(workspace))


def _recording() -> recording.Recording:
    problem = _problem()
    kernel, point = problem.workspace.settings.kernels.residual, (0.0, problem.y0, problem.yd0, 1.0)
    return recording.recorded(problem.workspace, kernel, {"out": (problem.n_equations,)}, point)


def _projected_in_loops() -> CompiledProjection:
    near = _traced().bare()
    return CompiledProjection(rbdae.Projection().bind(_problem()), near, np.zeros(12), _problem().n)


def _traced() -> traced.TracedKernel:
    problem = _problem()
    n, kernel = problem.n, problem.workspace.settings.kernels.residual
    shapes = {"y": (n,), "yd": (n,), "out": (problem.n_equations,)}
    found = traced.traced(problem.workspace, kernel, shapes, generic=lambda: problem.callbacks.residual)
    assert found is not None
    return found


def _wanted() -> code_of_kernels.Wanted:
    kernel = _problem().workspace.settings.kernels.residual
    return code_of_kernels.Wanted(kernel, {"y": (1,), "out": (1,)}, None, False)


def _factor_code() -> recorded_factors.FactorCode:
    problem = rbdae.formulate(cases.linked_bodies(), "index-2", code="traced")
    assert problem.callbacks.factors().recorded
    (found,) = [c for c in problem.workspace.memory.recorded.values() if isinstance(c, recorded_factors.FactorCode)]
    return found


INTERNAL = {"compiler", "kernels", "graph", "laws", "machine"}


def _classes() -> set[type]:
    found = set()
    for module in pkgutil.walk_packages(rbdae.__path__, "rbdae."):
        parts = module.name.split(".")
        if any(part.startswith("_") for part in parts) or INTERNAL & set(parts):
            continue
        for name, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            home = value.__module__
            private = any(part.startswith("_") for part in (*home.split("."), name))
            if not private and home.startswith("rbdae") and not INTERNAL & set(home.split(".")[1:2]):
                found.add(value)
    return found


def test_every_public_final_class_has_an_example():
    final = {c for c in _classes() if getattr(c, "__final__", False)}
    assert final - set(EXAMPLES) == set()
    assert set(EXAMPLES) - final == set()


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_public_values_cannot_be_written_to(kind):
    value = EXAMPLES[kind]()
    assert type(value) is kind
    assert repr(value)
    if not dataclasses.is_dataclass(value):
        return
    for field in dataclasses.fields(value):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            setattr(value, field.name, None)
    with pytest.raises((AttributeError, TypeError)):
        value.colour = "red"


def _used_by_the_mechanisms(what: str) -> set[type]:
    """`driven` has a file of laws of its own: its constraints depend on time."""
    return {type(value) for build in (*cases.SYSTEMS.values(), cases.driven) for value in getattr(build(), what)}


def test_every_joint_force_and_primitive_is_in_a_mechanism():
    joints = {c for c in _classes() if issubclass(c, AbstractJoint) and not inspect.isabstract(c)}
    driven = {type(joint) for joint in cases.driven().joints if joint.rheonomic()}
    assert joints == {kind for kind, _ in cases.JOINTS.values()} | driven
    forces = {c for c in _classes() if issubclass(c, AbstractForce) and not inspect.isabstract(c)}
    for name, build in cases.JOINT_SYSTEMS.items():
        assert {type(j) for j in build().joints} == {cases.JOINTS[name.removeprefix("joint-")][0]}
    tried = {type(force) for kind in force_cases.FORCES for force in force_cases.system_of(kind).forces}
    tried |= {*actuator_cases.EXAMPLES, rbdae.Block, rbdae.Actuator}  # these two have no law
    assert forces - _used_by_the_mechanisms("forces") - tried == set()
    primitives = {
        (type(p), "first" if j.a.fixed else "second" if j.b.fixed else "none")
        for build in cases.SYSTEMS.values()
        for j in build().joints
        for p in j.primitives()
    }
    # with the ground on some side, and between two bodies
    for kind in get_args(Primitive):
        assert (kind, "none") in primitives, kind
        assert {(kind, "first"), (kind, "second")} & primitives, kind


def test_every_model_is_a_mechanism_of_the_tests():
    """Of the laws' registry, of the benchmarks with their published values, or of the driven ones."""
    laws = {build.__name__ for build in cases.SYSTEMS.values()}
    assert set(rbdae.models.MODELS) <= laws | test_benchmarks.TESTED | {"driven_pendulum"}


def test_every_formulation_and_chart_is_paired():
    assert {p.formulation for p in cases.ALL_PAIRINGS} == set(formulations.FORMULATIONS)
    assert {p.rotation for p in cases.ALL_PAIRINGS} == set(rotations.CHARTS)
    assert len(set(cases.ALL_PAIRINGS)) == len(cases.ALL_PAIRINGS)
    promised = {
        (f.name, c.name) for f in formulations.FORMULATIONS.values() for c in CHARTS.values() if pairing.has_chart(f, c)
    }
    assert promised == {(p.formulation, p.rotation) for p in cases.ALL_PAIRINGS}


def test_charts_that_take_turns_meet_every_formulation():
    """In the mechanisms of the laws, in every run; in the long run each of them in each mechanism."""
    for pairs, systems in ((cases.PAIRS, cases.SYSTEMS), (cases.JOINT_PAIRS, cases.JOINT_SYSTEMS)):
        assert {p for _, p in pairs} == set(cases.ALL_PAIRINGS)
        for three in zip(systems, [*systems][1:], [*systems][2:], strict=False):
            met = {p for s, p in pairs if s in three}
            assert met >= {p for p in cases.ALL_PAIRINGS if p.rotation in samples.ALWAYS and p.velocity != "spatial"}


def test_the_issues_pairings_are_there():
    """The list of the issue, spelt out, so that a chart that drops out of a formulation is noticed."""
    either = [(r, "coordinate") for r in ("quaternion", "directors")]
    along_axis = ("rotation-vector", "rodrigues", "conformal", "linear", "quaternion-vector")
    charts = ("quaternion", "directors", "euler-313", "bryant-321", *along_axis)
    angular = [(r, v) for r in charts for v in ("angular", "spatial")]
    wanted = {(f"index-{k}", *rv) for k in range(4) for rv in either + angular}
    wanted |= {(f, *rv) for f in ("ggl", "hiller-anantharaman") for rv in either + angular}
    wanted |= {(f, *rv) for f in ("baumgarte", "baumgarte-ode") for rv in either + angular}
    wanted |= {(f"projected-{k}", "quaternion", "coordinate") for k in range(3)}
    wanted |= {(f, *rv) for f in ("overdetermined", "overdetermined-1") for rv in either + angular}
    wanted |= {(f, *rv) for f in ("null-space", "null-space-overdetermined", "null-space-ggl") for rv in angular}
    wanted |= {
        (f"hamiltonian{c}", r, "momentum")
        for c in ("", "-momentum", "-differentiated", "-eliminated", "-ggl", "-overdetermined")
        for r in ("quaternion", "directors")
    }
    assert {tuple(p) for p in cases.ALL_PAIRINGS} >= wanted


def test_spellings_lead_to_formulations():
    for spelling, name in formulations.SPELLINGS.items():
        assert rbdae.formulate(cases.heavy_top(), spelling).formulation == name


def test_adapters_promise_real_kinds():
    for info in rbdae.solvers():
        assert info.kinds <= {"ode", "dae", "overdetermined"}
        assert info.indices <= {0, 1, 2, 3}
        assert isinstance(adapter.Reason.FINISHED.value, str)


def test_arrays_of_public_values_are_read_only():
    for value in (_bodies()[0], Spherical(*_bodies()), Coincidence((1, 0, 0), (0, 1, 0))):
        for field in dataclasses.fields(value):
            content = getattr(value, field.name)
            if isinstance(content, np.ndarray):
                assert not content.flags.writeable, (value, field.name)
