"""The test set for authors of DAE codes, the references of models, and ``rbdae export``."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import rbdae
from rbdae import cli
from rbdae.handover.test_set import FORMS, Entry, write
from rbdae.models import MODELS, reference
from tests.handover.test_c import built, called

SMALL = {"pendulum": ("pendulum", "pendulum_"), "2 links": ("double_pendulum", "x2_links_")}


def test_the_files_of_two_models(tmp_path: Path) -> None:
    """Starts are consistent, references are the same motion in all forms, and C computes what the library does."""
    problems = {k: {form: rbdae.formulate(MODELS[of](), form) for form in FORMS} for k, (of, _) in SMALL.items()}
    entries = [Entry(k, "", reference(of), problems[k] | {"other": "why not"}) for k, (of, _) in SMALL.items()]
    page = write(tmp_path / "set", entries).read_text()
    assert page.count("| other | not here: why not |") == 2
    for name, form in product(SMALL, FORMS):
        p, prefix = problems[name][form], SMALL[name][1] + form.replace("-", "_")
        found = np.load(tmp_path / "set" / name / f"{prefix}.npz")
        residual = built(tmp_path / "set" / name / f"{prefix}.c", "-O0")[f"{prefix}_residual"]
        t, y, yd = (found[k] for k in ("t0", "y0", "yd0"))
        assert max(np.abs(x).max() for x in (p.residual(t, y, yd), called(residual, p.n, t, y, yd))) < 1e-10
        assert f"| {form} | {p.index} | {p.n} | {p.n} | {len(found['rows'])} |" in page
        assert found["labels"].tolist() == p.labels and found["pointers"][-1] == len(found["rows"])
        times, rows = found["reference_t"], found["reference_y"]
        wanted = np.concatenate([found["reference_position"], found["reference_velocity"]], axis=-1)
        np.testing.assert_allclose(p.natural(times, rows)[..., [0, 1, 2, 12, 13, 14]], wanted, rtol=0, atol=1e-12)
        assert np.isnan(rows).any() == (form == "hiller-anantharaman")
        if form != "hiller-anantharaman":
            t, y = times[7], rows[7]
            assert np.abs(p.residual(t, y, p.at(t, y).yd0)).max() < 1e-10
            np.testing.assert_allclose(called(residual, p.n, t, y, yd), p.residual(t, y, yd), rtol=0, atol=1e-12)


def test_references() -> None:
    """The pendulum against elliptic functions; small errors grow in the chaotic pair, and not in the pendulum."""
    found, w = reference("pendulum"), np.sqrt(9.81)
    angle = 2.0 * np.arcsin(np.sqrt(0.5) * ellipj(ellipk(0.5) + w * found.t, 0.5)[0])
    np.testing.assert_allclose(found.position[:, 0, :2], -0.5 * np.stack([np.sin(angle), np.cos(angle)], 1), atol=1e-10)
    assert found.agreement.max() < 1e-10 and found.growth.max() < 10.0
    assert 1.0 < reference("double_pendulum").growth[0] < 1.3
    assert 300.0 < reference("linked_bodies").growth[-1] < 3000.0


def test_export_says_what_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["export", "spatial_slider_crank", "--c", str(tmp_path / "s.c"), "--formulation", "index-3"]) == 0
    assert built(tmp_path / "s.c", "-O0").s_jacobian  # with labels of several words
    wrong = {"heavy_top": ["nothing", "--test-set", "x"], "--test-set FOLDER": [], "one model": ["--c", "x.c"]}
    for said, more in wrong.items():
        assert cli.main(["export", *more]) == 2 and said in capsys.readouterr().err
