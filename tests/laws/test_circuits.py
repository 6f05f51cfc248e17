"""Circuits as blocks, against published values and a closed form."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
import pytest
from scipy.linalg import expm

import rbdae
from rbdae import actuators
from rbdae.joints import Revolute

U_B, U_F, ALPHA, BETA, R0, R, C = 6.0, 0.026, 0.99, 1e-6, 1e3, 9e3, 1e-6

PUBLISHED = np.array([
    -0.5562145012262709e-2, 0.3006522471903042e1, 0.2849958788608128e1, 0.2926422536206241e1,
    0.2704617865010554e1, 0.2761837778393145e1, 0.4770927631616772e1, 0.1236995868091548e1,
])  # fmt: skip
"""Voltages of the eight nodes of the transistor amplifier at t = 0.2 s ([HW96] section VI.1; the reference solution of
the Test Set for IVP Solvers)."""


def amplifier(t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
    """States are voltages of capacitors, U1 - U2, U3, U4 - U5, U6, U7 - U8; U2, U5 and U8 are algebraic."""

    def transistor(x: Any) -> Any:
        return BETA * (np.exp(x / U_F) - 1.0)

    U1, U4, U7 = s.c1 + z.U2, s.c3 + z.U5, s.c5 + z.U8
    first, second = transistor(z.U2 - s.U3), transistor(z.U5 - s.U6)
    f1 = (U1 - 0.1 * np.sin(200.0 * np.pi * t)) / R0
    f4 = (U4 - U_B) / R + ALPHA * first
    f7 = (U7 - U_B) / R + ALPHA * second
    rates = [-f1 / C, (first - s.U3 / R) / (2.0 * C), -f4 / (3.0 * C), (second - s.U6 / R) / (4.0 * C), -f7 / (5.0 * C)]
    nodes = [
        f1 + (2.0 * z.U2 - U_B) / R + (1.0 - ALPHA) * first,
        f4 + (2.0 * z.U5 - U_B) / R + (1.0 - ALPHA) * second,
        f7 + z.U8 / R,
    ]
    return rates, nodes


def with_amplifier() -> rbdae.System:
    """The amplifier at rest, and a wheel that a motor at its output turns."""
    system = rbdae.System(gravity=(0, 0, 0))
    wheel = system.add_body("wheel", mass=1.0, inertia=(0.01, 0.01, 0.02), position=(0, 0, 0))
    pin = system.add_joint(Revolute(system.ground, wheel, name="pin"))
    circuit = system.add_block(
        rbdae.block(
            amplifier,
            states={"c1": -U_B / 2, "U3": U_B / 2, "c3": U_B / 2, "U6": U_B / 2, "c5": U_B},
            algebraic={"U2": U_B / 2, "U5": U_B / 2, "U8": 0.0},
            name="amplifier",
        )
    )
    system.add_force(actuators.DCMotor(pin, voltage=circuit.U8, inductance=1e-2, name="motor"))
    return system


def voltages(of: Any) -> Any:
    return np.array([of.c1 + of.U2, of.U2, of.U3, of.c3 + of.U5, of.U5, of.U6, of.c5 + of.U8, of.U8])


@pytest.mark.parametrize("solver, tolerance", [("sundials:ida", 1e-6), ("solve_dae:Radau", 1e-8)])
def test_the_transistor_amplifier_of_the_test_set(solver, tolerance):
    """With a motor at its output, which draws nothing."""
    cases.need(solver)
    p = rbdae.formulate(with_amplifier(), "index-1")
    solution = rbdae.solve(p, (0.0, 0.2), solver=solver, rtol=tolerance, atol=tolerance, t_eval=[0.1, 0.2])
    assert solution.success, solution.message
    found = voltages(solution.forces["amplifier"])
    np.testing.assert_allclose(found[:, -1], PUBLISHED, rtol=0, atol=3e-6)
    motor = solution.forces["motor"]
    np.testing.assert_allclose(motor.voltage, found[7], rtol=1e-13)
    J, k, L = 0.02, 0.05, 1e-2
    of_wheel = solution.joints["pin"].rate * J / k  # the integral of the current
    assert np.abs(of_wheel).max() > 1e-4 and np.abs(L * motor.current).max() > 1e-4


def test_the_step_response_of_a_motor():
    """Rate and current are those of a linear system of two, rate' = k i / J, current' = (V - R i - k rate) / L."""
    system = rbdae.System(gravity=(0, 0, 0))
    wheel = system.add_body("wheel", mass=1.0, inertia=(0.01, 0.01, 0.02), position=(0, 0, 0))
    pin = system.add_joint(Revolute(system.ground, wheel, name="pin"))
    system.add_force(actuators.DCMotor(pin, voltage=12.0, resistance=0.8, inductance=0.05, constant=0.3, name="motor"))
    A = np.array([[0.0, 0.3 / 0.02], [-0.3 / 0.05, -0.8 / 0.05]])
    steady = np.linalg.solve(A, [0.0, -12.0 / 0.05])
    solution = rbdae.solve(
        rbdae.formulate(system, "index-0"), (0.0, 0.5), solver="rbdae:dop853", rtol=1e-10, atol=1e-10
    )
    wanted = np.array([steady - expm(A * t) @ steady for t in solution.t])
    motor = solution.forces["motor"]
    np.testing.assert_allclose(solution.joints["pin"].rate, wanted[:, 0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(motor.current, wanted[:, 1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(motor.electrical_power, 12.0 * wanted[:, 1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(motor.loss, 0.8 * wanted[:, 1] ** 2, rtol=0, atol=1e-6)
    np.testing.assert_allclose(motor.power, 0.3 * wanted[:, 1] * wanted[:, 0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(solution.joints["pin"].torque, 0.3 * wanted[:, 1], rtol=0, atol=1e-8)
