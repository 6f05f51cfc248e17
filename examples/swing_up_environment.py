"""A pendulum under a motor as an environment of gymnasium: thirty lines around `rbdae.Simulator`.

pip install gymnasium
python examples/swing_up_environment.py
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

import rbdae


class SwingUp(gymnasium.Env[Any, Any]):
    """Raise a pendulum with a motor that is too weak to do it at once; a step lasts 20 ms."""

    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float64)

    def __init__(self) -> None:
        system = rbdae.System()
        rod = system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0, 0, -0.5))
        pin = system.add_joint(
            rbdae.joints.Revolute(system.ground, rod, at_b=(0, 0, 0.5), axis_a=(1, 0, 0), name="pin")
        )
        system.add_force(rbdae.forces.Motor(pin, torque=system.add_input("torque", unit="N m")))
        self.sim = rbdae.Simulator(rbdae.formulate(system, "null-space"), "rbdae:dop853", dt=0.02, record=False)

    def _observation(self) -> Any:
        pin = self.sim.joints["pin"]
        return np.array([np.cos(pin.angle), np.sin(pin.angle), pin.rate])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.sim.reset(joints={"pin": tuple(self.np_random.uniform(-0.1, 0.1, 2))})
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.sim.step(2.0 * np.asarray(action, dtype=float))
        seen = self._observation()
        return seen, -float(seen[0] + 1e-3 * seen[2] ** 2), False, self.sim.t > 10.0, {}


def main() -> None:
    """Push with the motion until the rod stands."""
    environment = SwingUp()
    seen, _ = environment.reset(seed=1)
    ended, highest = False, -1.0
    while not ended:
        seen, _, _, ended, _ = environment.step(np.sign(seen[2:]))
        highest = max(highest, -float(seen[0]))
    print(f"after {environment.sim.t:.2f} s the rod has been at {highest:.3f} of its height")


if __name__ == "__main__":
    main()
