"""Every public observable, and the law that holds it to a value that does not come from it.

`TABLES` has an entry for each public name of `rbdae.Problem`, its `callbacks`, `rbdae.Solution` and what they give. The
laws compare with definitions, with Newton's and Euler's equations (`maximal`), with closed forms, or with another form
or code; most run over formulations, charts and velocities. `test_observables.py` finds names without an entry.
"""

from __future__ import annotations

_ALONG, _COUNTS = "test_along_runs", "../adapters/test_laws::test_follows_the_exact_motion"
_PROJECTIONS = "test_along_runs::test_projections_report_what_they_did"
_CONSISTENCY, _DENSE, _EQUIVALENCE = "test_consistency", "test_dense_output", "test_equivalence"
_SWITCHES, _INPUTS, _JOINTS = "test_switches", "test_inputs", "test_joint_quantities"
_BALANCE, _UNIQUE, _STEPS = "test_energy_balance", "test_unique_components", "test_step_equations"
_LOOPS, _PARAMETERS = "test_loops_in_machine_code", "test_parameter_jacobian"
_MAXIMAL = "test_random_systems::test_a_random_system_moves_as_the_solver_in_maximal_coordinates_says"

LAWS = {
    # problems
    _MAXIMAL: "Problem energy momentum residual system, Energy kinetic potential, Momentum angular linear, "
    "Reaction torque",
    f"{_EQUIVALENCE}::test_all_pairings_are_one_motion": "Problem layout model natural reactions t0 y0 yd0, "
    "Energy total, Reaction force",
    f"{_EQUIVALENCE}::test_rates_and_residual_agree_off_the_manifold_too": "Problem kind n n_equations rates",
    f"{_EQUIVALENCE}::test_newton_and_euler": "Problem states, BodyState angular_velocity "
    "center_of_mass orientation position velocity",
    f"{_EQUIVALENCE}::test_constraints_are_the_primitives_and_their_rates": "Problem constraints, Constraints position "
    "velocity",
    f"{_CONSISTENCY}::test_description": "Problem differential formulation rotation velocity",
    f"{_CONSISTENCY}::test_labels_name_bodies_and_joints": "Problem labels start",
    "test_constant_mass::test_classes": "Problem variable_index",
    "../handover/test_c::test_values": "Problem c_source",
    "../handover/test_casadi::test_values_and_jacobians_agree": "Problem casadi",
    "../handover/test_jax::test_values_and_derivatives_agree": "Problem jax",
    "../handover/test_cuda::test_runs_are_those_of_dopri5": "Problem cuda_source",
    "../handover/test_fmu::test_it_is_valid_and_runs_as_here": "Problem fmu",
    "test_null_space_ggl::test_the_derivative_array_knows_other_forms": "Problem index",
    "test_redundancy::test_the_motion_is_that_of_the_twin": "Problem redundant",
    "test_reference_rotations::test_rows_are_read_by_their_own_reference_rotation": "Problem reference_rotations",
    "test_derivatives::test_jacobian_of_the_residual": "Problem sparse_jacobian sparsity",
    "test_traced_agreement::test_machine_code_and_plain_python_agree": "Problem code",
    "test_traced_agreement::test_matrices_of_any_strides_get_the_same_entries": "Problem jacobian",
    "test_derivatives::test_jacobian_of_the_right_hand_side": "Problem rhs rhs_jacobian",
    "test_user_laws::test_laws_of_time_drives_potentials_and_states_are_recorded": "Problem laws",
    f"{_PARAMETERS}::test_values_are_those_of_the_system": "Problem parameters",
    f"{_PARAMETERS}::test_names_have_the_differences_between_systems": "Problem parameter_jacobian",
    f"{_PARAMETERS}::test_the_right_hand_side_has_its_own": "Problem rhs_parameter_jacobian",
    "test_projection::test_positions_move_the_least_in_the_mass_metric": "Problem project",
    f"{_ALONG}::test_a_switched_run_is_the_same_after_loading": "Solution atol reason rtol save",
    f"{_SWITCHES}::test_a_run_is_read_without_a_seam": "Problem by_time each interpretation of workspace",
    f"{_SWITCHES}::test_switches_compose_in_either_order": "Problem resumed switches with_selection",
    f"{_SWITCHES}::test_one_run_selects_rows_and_velocities": "Problem selection, Solution segments, Stats restarts",
    f"{_SWITCHES}::test_events_get_the_unknowns_of_the_first_problem": "Problem translated",
    f"{_INPUTS}::test_a_problem_from_another_state": "Problem at",
    f"{_INPUTS}::test_all_code_has_the_values_of_its_inputs": "Problem inputs with_inputs",
    f"{_INPUTS}::test_the_input_jacobian_is_that_of_differences": "Problem input_jacobian",
    "test_inputs_of_runs::test_steps_of_inputs_cut_a_run": "Problem resumed_with_inputs",
    "test_outputs::test_the_derivatives_are_those_of_differences": "Problem outputs",
    "test_actuators::test_labels_and_the_consistent_start_of_algebraic_unknowns": "Problem algebraic",
    "test_with_parameters::test_other_geometry_is_assembled_anew": "Problem again",
    "test_with_parameters::test_open_code_with_other_numbers_is_that_of_a_model_of_its_own": "Problem with_parameters",
    "test_constant_mass::test_rows_are_those_of_the_residual": "Problem with_constant_mass",
    "test_quantity_events::test_a_function_for_own_loops_is_zero_at_the_event_alone": "Problem event_function",
    f"{_JOINTS}::test_they_are_the_same_in_every_form_and_chart": "Problem joints",
    f"{_JOINTS}::test_their_powers_change_the_energy": "Problem forces",
    f"{_JOINTS}::test_quantities_are_found_by_the_joint_that_was_given": "Problem quantity",
    "test_reactions::test_multipliers_of_a_joint_are_the_force_on_its_second_body": "Problem multipliers",
    "test_matrices::test_the_equations_hold_at_the_rates_of_index_0": "Problem matrices, Matrices G M T W g_II psi r",
    "test_matrices::test_constraints_kinematics_and_energy": "Matrices K g g_I",
    "test_euler_map::test_matrices_of_the_paper": "Matrices least_r reduced_mass saddle",
    f"{_DENSE}::test_every_form_with_a_joint_has_its_multipliers_between_steps": "Problem run_multipliers, "
    "Solution run_multipliers",
    f"{_UNIQUE}::test_they_are_those_of_the_loop_without_redundancy": "Reaction frame unique",
    f"{_UNIQUE}::test_what_the_null_space_moves_is_not_unique_and_nothing_else": "Reaction unique_force unique_torque "
    "unique_force_in_space unique_torque_in_space",
    # the start
    "test_assembly::test_the_report_is_what_happened": "Assembly angular_velocity gap moved names "
    "orientation position rate_gap redundant spin_change steps turned velocity velocity_change",
    "test_assembly::test_a_rough_placement_closes": "Problem assembly",
    "test_start::test_unknown_positions_are_found_by_moving": "Assembly found given",
    "test_start::test_a_joint_point_2_m_off_moves_the_body_with_a_warning": "Assembly changes",
    "test_axes_as_placed::test_a_warning_names_the_joint_with_the_largest_gap": "Assembly disagreement",
    # callbacks
    "test_shared_outputs::test_results_do_not_depend_on_where_the_output_is": "Problem callbacks, Callbacks jacobian "
    "jacobian_data residual rhs rhs_jacobian",
    "test_conserving::test_plain_code_takes_the_same_steps_in_all_forms": "Callbacks code",
    "test_native::test_evaluate_calls_machine_functions": "Callbacks machine",
    "test_elimination::test_factors_of_a_problem_solve_with_its_jacobian": "Callbacks factors",
    "test_operations::test_they_are_those_of_the_machine_code": "Callbacks operations",
    "test_conserving::test_a_step_from_python_is_that_of_the_loop": "Callbacks steps",
    "test_work_of_steps::test_what_the_energy_changes_by_is_the_work_of_the_steps": "Callbacks work_of_steps",
    # runs
    "test_pairings::test_every_pairing_ends_at_the_reference": "Solution message problem success t y",
    f"{_DENSE}::test_between_steps_the_error_is_that_of_the_steps": "Solution __call__ solver, DenseOutput __call__",
    f"{_DENSE}::test_a_projected_run_is_projected_between_steps": "Solution projected, DenseOutput steps",
    f"{_DENSE}::test_output_times_change_nothing": "Solution dense options stats steps, Steps t y",
    f"{_DENSE}::test_a_change_of_selection_has_two_sides": "Solution problem_at",
    f"{_ALONG}::test_events_across_changes_of_selection": "Solution events, EventLog t y",
    f"{_ALONG}::test_momentum_changes_by_applied_and_ground_forces": "Solution momentum reactions states, "
    "table momentum reactions states",
    "test_reading::test_rows_of_a_run_are_what_its_problem_says": "Solution drift "
    "multipliers, Drift position velocity, EnergyOfRun total, table drift",
    f"{_BALANCE}::test_drives_are_in_balance_in_every_form": "Solution energy, EnergyOfRun balance kinetic potential, "
    "table energy",
    f"{_BALANCE}::test_the_work_of_each_alone_is_its_power_over_time": "EnergyOfRun work",
    "test_singular::test_a_passage_is_found_in_the_unknowns_of_every_form": "Solution singular_times",
    f"{_JOINTS}::test_angles_count_a_hundred_turns": "Solution forces joints quantity, table forces joints",
    "test_animation::test_a_frame_shows_the_scene_in_its_plane": "Solution animate",
    "test_solution::test_plot_has_the_default_panels": "Solution plot",
    "test_solution::test_a_report_is_written": "Solution report",
    "test_frames::test_a_table_has_what_the_solution_says": "Solution to_pandas",
    # what runs count
    _COUNTS: "Stats evaluations factorisations jacobians rejected seconds steps wall_seconds",
    "test_traced_fallback::test_statistics_say_which_code_ran": "Stats code fallbacks",
    _PROJECTIONS: "Stats projections, Projector __call__ count drift iterations largest problem projection "
    "restart_tolerance skipped total",
    f"{_LOOPS}::test_the_projection_as_a_machine_function_is_the_projection": "Projector machine check",
    "test_drift::test_restarts_do_not_depend_on_the_size_of_velocities": "Projector reach",
    # functions, and lines of the table of observables
    "test_scaled_atol::test_each_unknown_has_the_tolerance_of_what_it_is": "rbdae scaled_atol",
    "test_euler_parameter_forms::test_the_norm_multiplier_as_a_check_of_a_solution": "rbdae_papers norm_defect "
    "norm_multipliers",
    f"{_STEPS}::test_runs_have_multipliers_and_momenta_of_their_steps": "rbdae_papers invariants step_momenta "
    "step_multipliers",
    "../study/test_citing::test_the_pattern_has_the_names_of_bodies_and_joints": "Problem plot_sparsity",
    "../study/test_toy_observables::test_problems_and_runs_have_it": "table kinetic_energy lagrangian load middle "
    "selected",
}
"""By tests: a class, the package or the table, and names of its attributes."""

TABLES: dict[str, dict[str, str]] = {}
"""By the names of classes, of the packages with functions, and of the table of observables: the law of each name."""

for _law, _names in LAWS.items():
    for _part in _names.split(", "):
        _kind, *_attributes = _part.split()
        TABLES.setdefault(_kind, {}).update(dict.fromkeys(_attributes, _law))
