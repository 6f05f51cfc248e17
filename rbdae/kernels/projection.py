"""Projection onto the constraint manifold; [NS], section 6.

Rotations come first, explicitly: (63, P) for quaternions, [Klu76] and [Spu78] for directors. Rates of coordinates go
with them (`turn_velocities`), or stay, as in the paper. The joints follow by
Newton's method (`closing`) for (62, P),

    M (q - q*) + G^T chi = 0,  g(q) = 0,

in displacements of the velocity space (x, rotation), and the velocities by (62, V), which is linear:

    M (v - v*) + G^T eta = 0,  G v + g_I = 0.

Suspended joint equations, near a singular position, move nothing: a violation delta would move the state by
delta/sigma. Beyond it they count again.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory, select, sqrt
from rbdae.kernels.bodies.director_rates import turn_with_rotation
from rbdae.kernels.bodies.dynamics import apply_mass, apply_mass_matrix
from rbdae.kernels.bodies.gather import (
    collect_velocities,
    gather_positions,
    gather_velocities,
    read_body,
    write_body,
)
from rbdae.kernels.bodies.natural import move, place, velocity_basis
from rbdae.kernels.bodies.spatial import spatial_velocity
from rbdae.kernels.closing import close_joints, largest, normalise_rotations
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import partial_rates, primitive_residual, primitive_vectors
from rbdae.kernels.constraints.redundant_rows import clear_dropped
from rbdae.kernels.entry import entry
from rbdae.kernels.linear.saddle import factorise, reduce_bodies, solve_saddle
from rbdae.kernels.linear.schur import reduce_gradients
from rbdae.kernels.memory import (
    bodies,
    constraint_side,
    constraint_values,
    head,
    right_hand_side,
    solution,
    square_side,
    states,
    work,
)
from rbdae.kernels.outputs import locate, violations
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE, SPATIAL_VELOCITIES

# what is where in the array that `project` takes: what to do, and what was done
POSITION_TOLERANCE = 0
VELOCITY_TOLERANCE = 1
ITERATION_LIMIT = 2
PROJECT_POSITIONS = 3
PROJECT_VELOCITIES = 4
"""0: no; 1: what is not tangential is taken off, [NS] (62, V); 2: rates of coordinates are divided as these are."""
POSITION_VIOLATION = 5
VELOCITY_VIOLATION = 6
ITERATIONS = 7
CHANGED = 8
TIME = 9
"""Violations of velocities are multiplied by it."""
STEADY = 10
"""Below it a violation that no longer falls is one of rounding."""
N_INFO = 11
"""Then follow the weights of the violations: the chart's internal constraints, then the joints."""

# values at ITERATIONS of a projection that failed
NOT_CONVERGED = -1.0
SINGULAR = -2.0


def turn_velocities(m: Memory, how: float) -> None:
    """Rates of coordinates, or their momenta, are divided by what `normalise_rotations` divides the coordinates by, if
    `how` is 2: so Omega = 2 conj(p) o pdot / |p|^2 stays. Momenta drift as coordinates do."""
    h = head(m)
    S = states(m)
    if h.kind == ANGULAR or h.structure != 0:
        return
    for b in range(h.n_bodies):
        if h.kind == QUATERNION_RATE:
            a = S[b].a
            n = 1.0 / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
            for k in range(4):
                S[b].w[k] *= select(how > 1.5, n, 1.0)
                S[b].p[k] *= select(how > 1.5, n, 1.0)
        else:
            turn_with_rotation(m, b, how - 1.0)


def project_velocities(m: Memory) -> None:
    """The velocities of the placed and moved bodies onto G v + g_I = 0. Writes xd and w, with momenta px and p,
    with spatial velocities p; or only head.singular."""
    h = head(m)
    velocity_basis(m)
    primitive_vectors(m, 1)
    gradients(m)
    factorise(m, 0)
    if h.singular != 0:
        return
    v = work(m)
    collect_velocities(m, v)
    apply_mass_matrix(m, v, right_hand_side(m), 1.0)
    side = constraint_side(m)
    for i in range(h.n_la):
        side[i] = 0.0
    partial_rates(m, side, 0, -1.0)
    clear_dropped(m, side, 0)
    solve_saddle(m)
    take_velocities(m)


def take_velocities(m: Memory) -> None:
    """The velocities in `solution`, and what the unknowns are in place of them, to the states of the bodies."""
    h = head(m)
    S = states(m)
    v = solution(m)
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        s = S[b]
        read_body(m, b, v, o.iv, s.xd, s.w, o.nr)
        if h.momenta == 1:
            for k in range(o.nt):
                s.px[k] = o.mass * s.xd[k]
            apply_mass(m, b, s.w, s.p)
        elif h.spatial == SPATIAL_VELOCITIES:
            spatial_velocity(m, b)


def place_at(m: Memory, t: float, y: Array) -> None:
    """The bodies at (t, y), with the velocities that are unknowns."""
    set_time(m, t)
    gather_positions(m, y)
    place(m)
    if head(m).structure == 0:
        gather_velocities(m, y, head(m).n_q)
        move(m)
    velocity_basis(m)


def unclosed(m: Memory, t: float, y: Array) -> None:
    """The joint equations at (t, y). Leaves the gradients with H and HJ, N and Ji of the bodies, g in `constraint_side`
    and g_I in `square_side`, without dropped rows."""
    place_at(m, t, y)
    primitive_vectors(m, 1)
    gradients(m)
    reduce_bodies(m, 0)
    reduce_gradients(m, 0)
    primitive_residual(m, constraint_side(m), 0, 0)
    clear_dropped(m, constraint_side(m), 0)
    partial_rates(m, square_side(m), 0, 1.0)
    clear_dropped(m, square_side(m), 0)


def loosen(m: Memory) -> None:
    """`solution`: displacements, or velocities, to the nearest ones that respect the internal constraints."""
    f = right_hand_side(m)
    apply_mass_matrix(m, solution(m), f, 1.0)
    for i in range(head(m).n_la):
        constraint_side(m)[i] = 0.0
    reduce_bodies(m, 0)
    solve_saddle(m)


def write_state(m: Memory, y: Array) -> None:
    """Positions and velocities of the states to y."""
    h = head(m)
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        write_body(m, b, s.x, s.a, o.na, y, o.iq)
        if h.structure == 0:
            w = s.p if h.momenta == 1 or h.spatial == SPATIAL_VELOCITIES else s.w
            write_body(m, b, s.px if h.momenta == 1 else s.xd, w, o.nr, y, h.n_q + o.iv)


@entry("itoo")
def project(m: Memory, t: float, y: Array, info: Array) -> None:
    """Project y in place; `info` says what to do, and what was done, at the indices above."""
    h = head(m)
    set_time(m, t)
    locate(m, y)
    half = h.chart_internal * h.n_bodies + h.n_rows
    g = constraint_values(m)
    violations(m, g)
    weights = info[N_INFO:]
    info[POSITION_VIOLATION] = largest(g, 0, half, weights)
    info[VELOCITY_VIOLATION] = info[TIME] * largest(g, half, half, weights)
    info[ITERATIONS] = 0.0
    info[CHANGED] = 0.0
    positions = info[PROJECT_POSITIONS] != 0.0 and not info[POSITION_VIOLATION] <= info[POSITION_TOLERANCE]
    drifted = positions or not info[VELOCITY_VIOLATION] <= info[VELOCITY_TOLERANCE]
    if positions:
        if info[PROJECT_VELOCITIES] > 1.5:
            turn_velocities(m, info[PROJECT_VELOCITIES])
        normalise_rotations(m)
        if h.n_rows > 0:
            limit = int(info[ITERATION_LIMIT])
            count = info[ITERATIONS : ITERATIONS + 1]
            joints = weights[h.chart_internal * h.n_bodies :]
            close_joints(m, info[POSITION_TOLERANCE], info[STEADY], limit, count, joints)
        if info[ITERATIONS] < 0.0:
            if h.singular != 0:
                info[ITERATIONS] = SINGULAR
            return
        info[CHANGED] = 1.0
    # quasi-velocities satisfy their constraints by construction
    if info[PROJECT_VELOCITIES] != 0.0 and h.structure == 0 and drifted:
        place(m)
        move(m)
        project_velocities(m)
        if h.singular != 0:
            info[ITERATIONS] = SINGULAR
            return
        info[CHANGED] = 1.0
    if info[CHANGED] != 0.0:
        write_state(m, y)
