"""Pictures, an animation, and an event of Andrews' squeezing mechanism, driven by a motor.

    python examples/pictures.py [--folder results] [--film squeezer.gif]

Writes `squeezer.png`, the mechanism with traces of the centres of mass, and `squeezer_plot.png`, the crank, the
reaction in its bearing and energies over time. An event notes when the crank points along the first axis. With
`--folder docs/pictures` it makes the pictures of README.md and docs/start.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import rbdae


def run() -> rbdae.Solution:
    """The mechanism of the IVP test set until 0.03 s, with an event at every turn of the crank K1."""
    problem = rbdae.formulate(rbdae.models.andrews(), "index-0")

    def turned(t, y):  # changes its sign where K1 points along the first axis
        return problem.states(t, y)["K1"].orientation.as_matrix()[1, 0]

    turned.direction = 1  # upwards: not after half a turn
    options = {"solver": "scipy:DOP853", "rtol": 1e-8, "atol": 1e-8, "projection": True}
    return rbdae.solve(problem, (0.0, 0.03), events=turned, **options)


def draw(solution: rbdae.Solution, folder: Path) -> list[Path]:
    """Draw both pictures; returns their files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "squeezer.png", folder / "squeezer_plot.png"]
    film = solution.animate(traces=["K2", "K3", "K6"], size=(6.5, 4.6), title="Andrews' squeezer")
    film.frame(0.018).savefig(files[0], dpi=90)
    figure = solution.plot(
        bodies=["K1"], quantities=["center_of_mass", "angular_velocity", "reactions", "energy"], joints=["O"]
    )
    figure.savefig(files[1], dpi=70)
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("results"))
    parser.add_argument("--film", type=Path, help="a .gif, .mp4 (with ffmpeg) or .html file")
    arguments = parser.parse_args()
    solution = run()
    print("K1 points along the first axis at t =", ", ".join(f"{t:.6f} s" for t in solution.events[0].t))
    for path in draw(solution, arguments.folder):
        print(f"written to {path}")
    if arguments.film is not None:
        solution.animate(arguments.film)
        print(f"written to {arguments.film}")


if __name__ == "__main__":
    main()
