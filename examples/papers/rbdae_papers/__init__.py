"""The papers behind rbdae: their figures, tables and claims, run and judged, and their printed equations.

- `items`: each figure, table and claim compared with the paper; ``rbdae papers`` runs them (docs/papers.md)
- `kinematics`: rotations, screws, velocities, accelerations, variations; [GR95], sections 2 to 5
- `closed_form`: the free rigid body and the symmetric top
- `step_equations`: equations of one step of [BS09] and [GR95]
- `norm_multipliers`, `step_values`: multipliers, invariants and momenta of states and runs; [SNS15], [BS09]
"""
