"""A pendulum with a motor as a gymnasium environment: thirty lines around `rbdae.Simulator`.

pip install gymnasium
python examples/swing_up_environment.py
"""

from typing import Any

import gymnasium
import numpy as np

import rbdae


class SwingUp(gymnasium.Env[Any, Any]):
    """Raise a pendulum with a motor too weak to do it at once; a step lasts 20 ms."""

    action_space = gymnasium.spaces.Box(-4.0, 4.0, (1,), np.float64)
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float64)

    def __init__(self) -> None:
        system = rbdae.models.pendulum(side=1.0)
        system.add_force(rbdae.forces.Motor(system.joints[0], torque=system.add_input("torque", unit="N m")))
        self.sim = rbdae.Simulator(rbdae.formulate(system, "null-space"), dt=0.02, record=False)

    def _observation(self) -> Any:
        hinge = self.sim.joints["hinge"]
        return np.array([np.cos(hinge.angle), np.sin(hinge.angle), hinge.rate])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.sim.reset(joints={"hinge": self.np_random.uniform((-1.7, -0.1), (-1.5, 0.1)).tolist()})
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.sim.step(action)
        seen = self._observation()
        return seen, float(seen[1] - 1e-3 * seen[2] ** 2), False, self.sim.t > 10.0, {}


def main() -> None:
    """Push with the motion until the rod is upright."""
    environment = SwingUp()
    seen, _ = environment.reset(seed=1)
    while seen[1] < 0.99:
        seen, *_ = environment.step(4.0 * np.sign(seen[2:]))
    print(f"after {environment.sim.t:.2f} s the rod stands")


if __name__ == "__main__":
    main()
