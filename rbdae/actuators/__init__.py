"""Actuators, controllers and other equations of a system, as values with parameters.

`rbdae.Actuator`, `rbdae.Block`, `rbdae.block` and `rbdae.Sampled` are for your own equations.
"""

from rbdae.actuators.block import Actuator as Actuator
from rbdae.actuators.block import Block as Block
from rbdae.actuators.block import FunctionBlock as FunctionBlock
from rbdae.actuators.block import Points as Points
from rbdae.actuators.block import Sampled as Sampled
from rbdae.actuators.block import block as block
from rbdae.actuators.library import PD as PD
from rbdae.actuators.library import PI as PI
from rbdae.actuators.library import PID as PID
from rbdae.actuators.library import DCMotor as DCMotor
from rbdae.actuators.library import Source as Source

__all__ = [
    "PD",
    "PI",
    "PID",
    "DCMotor",
    "FunctionBlock",
    "Source",
]
