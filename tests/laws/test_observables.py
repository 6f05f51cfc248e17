"""Every public attribute of a problem, a solution and of what they give has a law, and a test that holds it to it.

`LAWS` names the test of each attribute, along a run where its value belongs to a state. A new attribute fails here
until it has one; an entry whose attribute or test is gone, or whose test does not read the attribute, fails too.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

import inside
import pytest
import test_along_runs as runs

import rbdae

TESTS = Path(__file__).parents[1]

DENSE, ENERGY, ALONG, SWITCHES = "test_dense_output", "test_energy_balance", "test_along_runs", "test_switches"
AS_SAVED = f"{ALONG}::test_a_switched_run_is_the_same_after_loading"
EQUATIONS = f"{ALONG}::test_equations_along_a_run"
CODE = "test_traced_fallback::test_statistics_say_which_code_ran"
PARAMETERS = "test_parameter_jacobian::test_names_have_the_differences_between_systems"
COUNTS = f"{ALONG}::test_counts_are_those_of_the_calls"
MOMENTUM = f"{ALONG}::test_momentum_changes_by_applied_and_ground_forces"
NEAR = "test_projected_loops"
PROJECTIONS = f"{ALONG}::test_projections_report_what_they_did"
SEAM = f"{SWITCHES}::test_a_run_is_read_without_a_seam"
SAVED = "test_solution::test_save_and_load"
DESCRIPTION = "test_consistency::test_description"
REACTIONS = "test_reactions::test_reactions_along_runs_are_as_good_as_the_states"
UNIQUE_ALONG = "test_unique_components::test_along_a_run_a_component_is_unique_if_it_always_is"
MATRICES = "test_matrices::test_a_run_that_changed_its_selection_has_the_matrices_of_the_time"
ASSEMBLY = "test_assembly::test_the_report_is_what_happened"
BALANCE = f"{ENERGY}::test_every_force_is_in_balance"

LAWS: dict[str, dict[str, str]] = {
    "Problem": {
        "assembly": "test_assembly::test_a_rough_placement_closes",
        "by_time": AS_SAVED,
        "callbacks": COUNTS,
        "constraints": SEAM,
        "differential": DESCRIPTION,
        "energy": SEAM,
        "equations": EQUATIONS,
        "formulation": DESCRIPTION,
        "index": DESCRIPTION,
        "interpretation": SEAM,
        "jacobian": EQUATIONS,
        "kind": DESCRIPTION,
        "labels": DESCRIPTION,
        "layout": f"{DENSE}::test_at_its_steps_it_is_what_was_recorded",
        "log_determinant": "test_singular::test_the_volume_is_that_of_the_joints_matrix",
        "matrices": MATRICES,
        "model": ASSEMBLY,
        "momentum": MOMENTUM,
        "multipliers": "test_reactions::test_the_law_sees_what_a_solver_does_not_test",
        "n": DESCRIPTION,
        "n_equations": DESCRIPTION,
        "natural": f"{SWITCHES}::test_the_motion_is_that_of_the_reference",
        "code": CODE,
        "of": DESCRIPTION,
        "parameter_jacobian": PARAMETERS,
        "parameters": PARAMETERS,
        "project": PROJECTIONS,
        "rates": f"{DENSE}::test_rates_are_those_of_the_equations",
        "reactions": MOMENTUM,
        "redundant": AS_SAVED,
        "reference_rotations": "test_reference_rotations::test_a_singular_start_is_refused_with_the_remedies",
        "residual": EQUATIONS,
        "resumed": f"{SWITCHES}::test_switches_compose_in_either_order",
        "rhs": EQUATIONS,
        "rhs_jacobian": EQUATIONS,
        "rhs_parameter_jacobian": "test_parameter_jacobian::test_the_right_hand_side_has_its_own",
        "rotation": DESCRIPTION,
        "run_multipliers": "test_reactions::test_the_law_sees_what_a_solver_does_not_test",
        "selection": f"{SWITCHES}::test_one_run_selects_rows_and_velocities",
        "singular_row": "test_projection::test_singular_positions_are_named",
        "sparse_jacobian": EQUATIONS,
        "sparsity": EQUATIONS,
        "start": AS_SAVED,
        "states": MOMENTUM,
        "switches": f"{SWITCHES}::test_a_switch_changes_its_own_field_only",
        "system": DESCRIPTION,
        "t0": f"{ENERGY}::test_every_kind_of_drive_is_in_balance",
        "translated": f"{SWITCHES}::test_events_get_the_unknowns_of_the_first_problem",
        "variable_index": DESCRIPTION,
        "velocity": DESCRIPTION,
        "with_selection": AS_SAVED,
        "workspace": AS_SAVED,
        "y0": "test_equivalence::test_the_start_solves_the_equations",
        "yd0": "test_equivalence::test_the_start_solves_the_equations",
    },
    "Solution": {
        "animate": "test_animation::test_a_frame_shows_the_scene_in_its_plane",
        "atol": AS_SAVED,
        "dense": f"{DENSE}::test_a_projected_run_is_projected_between_steps",
        "drift": SEAM,
        "energy": BALANCE,
        "events": f"{ALONG}::test_events_across_changes_of_selection",
        "message": AS_SAVED,
        "momentum": MOMENTUM,
        "multipliers": AS_SAVED,
        "options": "test_frames::test_a_solution_keeps_what_its_run_was_asked_for",
        "plot": "test_solution::test_plot_has_the_default_panels",
        "problem": SEAM,
        "problem_at": SEAM,
        "projected": f"{DENSE}::test_a_projected_run_is_projected_between_steps",
        "reactions": REACTIONS,
        "reason": AS_SAVED,
        "report": "test_solution::test_a_report_is_written",
        "rtol": AS_SAVED,
        "run_multipliers": "test_reactions::test_the_law_sees_what_a_solver_does_not_test",
        "save": AS_SAVED,
        "segments": f"{SWITCHES}::test_one_run_selects_rows_and_velocities",
        "singular_times": "test_singular::test_a_passage_is_found_and_told",
        "solver": AS_SAVED,
        "states": SEAM,
        "stats": COUNTS,
        "steps": f"{DENSE}::test_output_times_change_nothing",
        "success": COUNTS,
        "t": COUNTS,
        "to_pandas": "test_frames::test_a_table_has_what_the_solution_says",
        "y": f"{DENSE}::test_between_steps_the_error_is_that_of_the_steps",
    },
    "Stats": {
        "evaluations": COUNTS,
        "factorisations": COUNTS,
        "jacobians": COUNTS,
        "projections": PROJECTIONS,
        "rejected": COUNTS,
        "code": CODE,
        "handed_over": CODE,
        "restarts": f"{SWITCHES}::test_one_run_selects_rows_and_velocities",
        "seconds": COUNTS,
        "steps": COUNTS,
    },
    "BodyState": {
        "angular_velocity": SEAM,
        "center_of_mass": MOMENTUM,
        "orientation": MOMENTUM,
        "position": MOMENTUM,
        "velocity": f"{SWITCHES}::test_a_saved_run_is_read_without_a_seam",
    },
    "Energy": {
        "kinetic": "test_equivalence::test_energy_and_momentum_by_definition",
        "potential": "test_equivalence::test_energy_and_momentum_by_definition",
        "total": SEAM,
    },
    "EnergyOfRun": dict.fromkeys(("balance", "kinetic", "potential", "total", "work"), BALANCE),
    "Momentum": dict.fromkeys(("angular", "linear"), MOMENTUM),
    "Constraints": dict.fromkeys(("position", "velocity"), "test_solution::test_drift_is_the_largest_violation"),
    "Drift": dict.fromkeys(("position", "velocity"), "test_solution::test_drift_is_the_largest_violation"),
    "Reaction": {
        "force": MOMENTUM,
        "torque": MOMENTUM,
        "unique": SEAM,
        "frame": UNIQUE_ALONG,
        "unique_force": UNIQUE_ALONG,
        "unique_force_in_space": UNIQUE_ALONG,
        "unique_torque": UNIQUE_ALONG,
        "unique_torque_in_space": UNIQUE_ALONG,
    },
    "EventLog": dict.fromkeys(("t", "y"), f"{ALONG}::test_events_across_changes_of_selection"),
    "Steps": dict.fromkeys(("t", "y"), f"{DENSE}::test_output_times_change_nothing"),
    "DenseOutput": {"steps": f"{DENSE}::test_a_projected_run_is_projected_between_steps"},
    "Projector": {
        "count": PROJECTIONS,
        "drift": PROJECTIONS,
        "iterations": PROJECTIONS,
        "largest": PROJECTIONS,
        "machine": f"{NEAR}::test_other_projections_come_back_to_python",
        "problem": PROJECTIONS,
        "projection": PROJECTIONS,
        "restart_tolerance": PROJECTIONS,
        "skipped": PROJECTIONS,
        "total": PROJECTIONS,
    },
    "Matrices": dict.fromkeys(("G", "K", "M", "T", "W", "g", "g_I", "g_II", "psi", "r"), EQUATIONS),
    "Callbacks": {
        "check_explicit": "test_parameter_jacobian::test_a_dae_has_no_right_hand_side",
        "code": CODE,
        "handed_over": CODE,
        "steps": "test_conserving::test_a_step_from_python_is_that_of_the_loop",
        "machine": "test_traced_fallback::test_a_c_function_gives_what_the_callback_gives",
        "identity_project": PROJECTIONS,
        "jacobian": EQUATIONS,
        "jacobian_data": EQUATIONS,
        "project": PROJECTIONS,
        "project_near": f"{NEAR}::test_near_the_constraints_it_is_the_projection",
        "residual": EQUATIONS,
        "rhs": EQUATIONS,
        "rhs_jacobian": EQUATIONS,
        "violation_scales": PROJECTIONS,
    },
}

# read by the library for the test: `Problem.sparse_jacobian` calls `Callbacks.jacobian_data`, and so on
THROUGH = {
    ("Problem", "by_time"): "Solution.problem of a run in segments",
    ("Problem", "equations"): "every evaluation goes through it",
    ("Problem", "interpretation"): "every quantity goes through it",
    ("Problem", "model"): "the report of an assembly",
    ("Problem", "of"): "formulate makes problems by it",
    ("Problem", "resumed"): "Switch.resume makes problems by it",
    ("Problem", "singular_row"): "the message of a projection has it",
    ("Problem", "start"): "t0, y0, yd0; load makes one for each segment",
    ("Problem", "with_selection"): "load reads a file by it",
    ("Problem", "workspace"): "every kernel works on it",
    ("Solution", "steps"): "solution(t) of a run with t_eval",
    ("Steps", "t"): "the same",
    ("Steps", "y"): "the same",
    ("DenseOutput", "steps"): "Solution.dense.steps",
    ("Callbacks", "check_explicit"): "Problem.rhs_parameter_jacobian calls it",
    ("Callbacks", "jacobian_data"): "Problem.sparse_jacobian calls it",
    ("Callbacks", "identity_project"): "Projector calls it",
    ("Callbacks", "project"): "Projector calls it",
    ("Callbacks", "project_near"): "Projector.machine calls it",
    ("Callbacks", "violation_scales"): "Projector.drift measures by it",
    ("Projector", "problem"): "what it was bound to",
    ("Projector", "projection"): "what it was bound from",
}


@cache
def _observed() -> dict[str, Any]:
    """One object of each class."""
    run = runs.switched()
    problem = run.problem
    assert problem is not None
    sparse = rbdae.solve(problem, (0.0, 0.1), solver="scipy:DOP853", t_eval=[0.1])
    found = [problem, run, run.stats, run.energy, run.momentum, run.drift, run.dense, run.events[0], sparse.steps]
    found += [problem.energy(0.0, problem.y0), problem.constraints(0.0, problem.y0), problem.matrices(0.0, problem.y0)]
    found += [next(iter(run.states.values())), next(iter(next(iter(run.reactions.values())).values()))]
    found += [problem.callbacks, rbdae.Projection().bind(problem)]
    return {type(thing).__name__: thing for thing in found}


def _public(name: str) -> set[str]:
    old = inside.old_attributes(name)
    return {each for each in dir(_observed()[name]) if not each.startswith("_") and each not in old}


def test_no_class_is_left_out():
    assert set(_observed()) == set(LAWS)


@pytest.mark.parametrize("name", LAWS)
def test_every_attribute_has_a_law(name):
    without = _public(name) - set(LAWS[name])
    assert not without, f"{name}: {sorted(without)} have no law: write one along a run, and enter its test in LAWS"
    gone = set(LAWS[name]) - _public(name)
    assert not gone, f"{name}: {sorted(gone)} are in LAWS, but they are no attributes"


@cache
def _functions(file: str) -> dict[str, str]:
    """The functions and classes of a test's file with their sources."""
    text = (TESTS / "laws" / f"{file}.py").read_text(encoding="utf-8")
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {
        node.name: ast.get_source_segment(text, node) or "" for node in ast.parse(text).body if isinstance(node, kinds)
    }


def _reads(file: str, test: str, attribute: str) -> bool:
    """Whether a test, or a helper of its file that it calls, reads an attribute of this name."""
    functions, seen, waiting = _functions(file), set[str](), [test]
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for node in ast.walk(ast.parse(functions[name])):
            if isinstance(node, ast.Attribute) and node.attr == attribute:
                return True
            if isinstance(node, ast.Name) and node.id in functions and node.id not in seen:
                waiting.append(node.id)
    return False


@pytest.mark.parametrize("name", LAWS)
def test_the_laws_exist_and_read_the_attribute(name):
    wrong = []
    for attribute, law in LAWS[name].items():
        file, test = law.split("::")
        if test not in _functions(file):
            wrong.append(f"{name}.{attribute}: there is no {test} in {file}.py")
        elif (name, attribute) not in THROUGH and not _reads(file, test, attribute):
            wrong.append(f"{name}.{attribute}: {law} does not read it")
    assert not wrong, "\n".join(wrong)


def test_what_is_read_by_the_library_is_an_attribute():
    assert all(attribute in LAWS[name] for name, attribute in THROUGH)
