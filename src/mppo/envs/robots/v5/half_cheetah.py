"""HalfCheetah: as Swimmer, but with normal noise on the starting velocities."""

from dataclasses import replace

from mppo.envs.robots.rules import normal_start
from mppo.envs.robots.v5 import swimmer

ROBOT = replace(swimmer.ROBOT, gymnasium_id="HalfCheetah-v5", start=normal_start)
