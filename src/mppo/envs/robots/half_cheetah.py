"""HalfCheetah: as Swimmer, but with normal noise on the starting velocities."""

from dataclasses import replace

from mppo.envs.robots import swimmer

ROBOT = replace(swimmer.ROBOT, gymnasium_id="HalfCheetah-v5", normal_velocities=True)
