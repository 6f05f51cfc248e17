"""FMUs: descriptions, runs without this library, derivatives along directions, discarded steps, refusals."""

import json
import subprocess
import sys
from zipfile import ZipFile

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

import rbdae
from tests.handover.mechanisms import MECHANISMS, mechanism

ROD = 'rod.1 & <"ü">'
RUN = """
import fmpy, json, sys, numpy as np; sys.modules["rbdae"] = None
u = np.array([(0.0, 2.0), (0.5, 2.0), (0.5, -1.0), (1.0, -1.0)], dtype=[("time", float), ("torque", float)])
run = fmpy.simulate_fmu(sys.argv[1], stop_time=1.0, output_interval=0.1, relative_tolerance=1e-9, input=u,
                        output=sys.argv[2:], start_values={"spring.stiffness": 30.0})
print(json.dumps([float(run[name][-1]) for name in sys.argv[2:]]))
"""


def problem(form, torque=None):
    system = rbdae.System()
    rod = system.add_body(ROD, mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0, 0, -0.5), angular_velocity=(0.4, 0, 0))
    pin = system.add_joint(rbdae.joints.Revolute(system.ground, rod, at_b=(0, 0, 0.5), axis_a=(1, 0, 0), name="pin"))
    system.add_force(rbdae.forces.Motor(pin, torque=torque or system.add_input("torque", unit="N m"), name="motor"))
    system.add_force(rbdae.forces.TorsionalSpringDamper(pin, stiffness=20.0, damping=0.1, name="spring"))
    return rbdae.formulate(system, form)


def opened(path):
    return fmpy.instantiate_fmu(fmpy.extract(path, path.with_suffix("")), fmpy.read_model_description(path))


@pytest.mark.parametrize("door", ["2.0 model-exchange", "2.0 co-simulation", "3.0 model-exchange", "3.0 co-simulation"])
def test_it_is_valid_and_runs_as_here(tmp_path, door):
    own, labels, (version, kind) = problem("null-space"), ["motor.power", f"pin on {ROD}.force.z"], door.split()
    path = own.fmu(tmp_path / "1 rod.fmu", version=version, kind=kind, outputs=labels, parameters=["spring.stiffness"])
    assert validate_fmu(str(path)) == []
    pairs = [(x.name, x.derivative) for x in fmpy.read_model_description(path).modelVariables if x.derivative]
    assert [(rate, state.name) for rate, state in pairs] == [(f"der({x})", x) for x in own.labels]
    got = json.loads(subprocess.check_output([sys.executable, "-c", RUN, path, *own.labels, *labels, "energy.kinetic"]))
    own = own.with_parameters({"spring.stiffness": 30.0}).with_inputs({"torque": -1.0})
    y = rbdae.solve(own, (0, 1), inputs={"torque": ([0, 0.5], [2, -1], "previous")}, rtol=1e-11, atol=1e-11).y[-1]
    read = own.quantity("motor.power", 1.0, y), own.reactions(1.0, y)["pin"][ROD].force[2], own.energy(1.0, y).kinetic
    np.testing.assert_allclose(got, [*y, *read], rtol=1e-6, atol=1e-6)


def drift(problem, path, **start):
    """The largest violation of constraints of positions at the end of a run with a coarse tolerance."""
    options = {"stop_time": 2.0, "output_interval": 0.02, "relative_tolerance": 1e-4, "start_values": start}
    run = fmpy.simulate_fmu(path, output=problem.labels, **options)
    return np.abs(problem.constraints(2.0, np.array([run[x][-1] for x in problem.labels])).position).max()


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_completed_steps_are_projected(tmp_path, version):
    top = rbdae.formulate(rbdae.models.rotations_top(), "index-0")  # a free body on a ball joint
    path = top.fmu(tmp_path / "top.fmu", version=version, outputs=[])
    assert drift(top, path) < 1e-8  # the FMU's tolerance
    assert drift(top, path, tolerance=1e3) > 1e-4
    if version == "2.0":  # its steps are those of 3.0
        path = top.fmu(tmp_path / "top.fmu", kind="co-simulation", outputs=[])
        assert drift(top, path) < 1e-4  # 5.8e-3 without projection


LONG = [pytest.param(name, marks=pytest.mark.nightly) for name in MECHANISMS if name != "four-bar"]


@pytest.mark.parametrize("name", ["four-bar", *LONG])
def test_mechanisms_run_as_here(tmp_path, name):
    own, end = mechanism(name)
    path = own.fmu(tmp_path / "model.fmu", version="3.0", kind="co-simulation", outputs=[])
    assert validate_fmu(path) == []
    run = fmpy.simulate_fmu(path, stop_time=end, output_interval=end, relative_tolerance=1e-9, output=own.labels)
    wanted = rbdae.solve(own, (0.0, end), rtol=1e-11, atol=1e-11, projection=True).y[-1]
    np.testing.assert_allclose([run[label][-1] for label in own.labels], wanted, rtol=1e-6, atol=1e-6)


def test_derivatives_along_a_direction(tmp_path):
    own, labels, u = problem("index-0"), ["pin.rate", "motor.power"], {"torque": 0.7}
    n, read, model = own.n, own.outputs(labels), opened(own.fmu(tmp_path / "rod.fmu", version="3.0", outputs=labels))
    y, direction = own.y0 + 0.1 * np.sin(np.arange(n)), np.cos(np.arange(n + 1.0))
    model.setFloat64(knowns := [*range(1, n + 1), 2 * n + 1], [*y, 0.7])
    got = model.getDirectionalDerivative([*range(n + 1, 2 * n + 1), 2 * n + 2, 2 * n + 3], knowns, direction)
    by_y = np.vstack([own.rhs_jacobian(0.0, y, u=u), read.jacobian(0.0, y, u=u)])
    by_u = np.vstack([own.input_jacobian(0.0, y, u=u), read.input_jacobian(0.0, y, u=u)])
    np.testing.assert_allclose(got, np.hstack([by_y, by_u]) @ direction, rtol=0, atol=1e-11)  # up to 134


def test_a_step_without_a_result_is_discarded(tmp_path):
    bars = rbdae.formulate(rbdae.models.n_four_bar(1), "null-space")  # whose velocities are independent up to an angle
    slave = opened(bars.fmu(tmp_path / "bars.fmu", kind="co-simulation", outputs=[]))
    slave.setReal([2 * bars.n + 3], [1e-11])  # the tolerance, with which no step jumps over that angle
    slave.doStep(0.0, 0.5)
    before = slave.getReal(range(30))
    with pytest.raises(fmpy.fmi1.FMICallException, match="discard"):
        slave.doStep(0.5, 0.5)
    assert slave.getReal(range(30)) == before and before[0] == 0.5


def test_what_cannot_be_an_fmu_is_said(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"index-3 is a DAE.*take index-0.*c_source"):
        problem("index-3").fmu(tmp_path / "x.fmu")
    with pytest.raises(ValueError, match=r"calls Python.*'motor'.*uses str"):
        problem("index-0", lambda t, angle, rate: -float(str(rate))).fmu(tmp_path / "x.fmu")
    monkeypatch.setenv("PATH", "")
    with ZipFile(problem("index-0").fmu(tmp_path / "x.fmu", outputs=[])) as archive:  # without a compiler
        assert {x.partition("/")[0] for x in archive.namelist()} == {"sources", "modelDescription.xml"}
