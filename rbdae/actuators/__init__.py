"""Actuators, controllers and other equations beside those of a mechanism."""

from rbdae.actuators.actuator import Actuator as Actuator
from rbdae.actuators.actuator import Points as Points
from rbdae.actuators.block import Block as Block
from rbdae.actuators.controllers import PD as PD
from rbdae.actuators.controllers import PI as PI
from rbdae.actuators.controllers import PID as PID
from rbdae.actuators.dc_motor import DCMotor as DCMotor
from rbdae.actuators.function_block import FunctionBlock as FunctionBlock
from rbdae.actuators.function_block import block as block
from rbdae.actuators.hydraulic import FirstOrderValve as FirstOrderValve
from rbdae.actuators.hydraulic import HydraulicCylinder as HydraulicCylinder
from rbdae.actuators.maxwell import MaxwellElement as MaxwellElement
from rbdae.actuators.sampled import Sampled as Sampled
from rbdae.actuators.torque_source import Source as Source

__all__ = [*(name for name in list(vars()) if name[0].isupper()), "block"]
