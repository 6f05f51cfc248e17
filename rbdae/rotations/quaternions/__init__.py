"""Quaternions (..., 4), scalar first, for users, with any leading axes, such as time.

Algebra ([GR95] (209)-(217), [NS] (30), [BS09] section 2.1): `product`, `conjugate`, `norm`, `inverse`, `pure`.
Matrices ([GR95] (239)-(251), [BS09] (9)-(12) and appendix A): `left_matrix` Q_l, `right_matrix` Q_r, `E`, `G`.
Maps ([BS09] (5)-(8), [GR95] (193)-(205)): `exponential`, `logarithm`, rotation vectors, matrices, scipy's `Rotation`.
Rates ([BS09] (3), (4), (14), (45), [NS] lemma 4.1): angular velocities of qdot and back, angular momentum.
The Euler map of [NS], sections 4 and 5, with mass matrices is `rbdae_papers.null_space.euler_map`.

The product is Hamilton's: R(p q) = R(p) R(q), and R(q) x = q x conj(q) maps material to spatial components. Functions
that read a rotation from a quaternion use only its direction: q, -q and all multiples are the same rotation.
"""

from rbdae.rotations.quaternions.algebra import conjugate as conjugate
from rbdae.rotations.quaternions.algebra import inverse as inverse
from rbdae.rotations.quaternions.algebra import norm as norm
from rbdae.rotations.quaternions.algebra import product as product
from rbdae.rotations.quaternions.algebra import pure as pure
from rbdae.rotations.quaternions.algebra import rotate as rotate
from rbdae.rotations.quaternions.algebra import rotate_back as rotate_back
from rbdae.rotations.quaternions.maps import exponential as exponential
from rbdae.rotations.quaternions.maps import from_axis_angle as from_axis_angle
from rbdae.rotations.quaternions.maps import from_matrix as from_matrix
from rbdae.rotations.quaternions.maps import from_rotation as from_rotation
from rbdae.rotations.quaternions.maps import from_rotation_vector as from_rotation_vector
from rbdae.rotations.quaternions.maps import half as half
from rbdae.rotations.quaternions.maps import logarithm as logarithm
from rbdae.rotations.quaternions.maps import to_axis_angle as to_axis_angle
from rbdae.rotations.quaternions.maps import to_matrix as to_matrix
from rbdae.rotations.quaternions.maps import to_rotation as to_rotation
from rbdae.rotations.quaternions.maps import to_rotation_vector as to_rotation_vector
from rbdae.rotations.quaternions.matrices import E as E
from rbdae.rotations.quaternions.matrices import G as G
from rbdae.rotations.quaternions.matrices import left_matrix as left_matrix
from rbdae.rotations.quaternions.matrices import right_matrix as right_matrix
from rbdae.rotations.quaternions.rates import material_angular_velocity as material_angular_velocity
from rbdae.rotations.quaternions.rates import momentum_map as momentum_map
from rbdae.rotations.quaternions.rates import rate_from_material as rate_from_material
from rbdae.rotations.quaternions.rates import rate_from_spatial as rate_from_spatial
from rbdae.rotations.quaternions.rates import second_rate as second_rate
from rbdae.rotations.quaternions.rates import spatial_angular_velocity as spatial_angular_velocity

__all__ = [
    "E",
    "G",
    "conjugate",
    "exponential",
    "from_axis_angle",
    "from_matrix",
    "from_rotation",
    "from_rotation_vector",
    "half",
    "inverse",
    "left_matrix",
    "logarithm",
    "material_angular_velocity",
    "momentum_map",
    "norm",
    "product",
    "pure",
    "rate_from_material",
    "rate_from_spatial",
    "right_matrix",
    "rotate",
    "rotate_back",
    "second_rate",
    "spatial_angular_velocity",
    "to_axis_angle",
    "to_matrix",
    "to_rotation",
    "to_rotation_vector",
]
