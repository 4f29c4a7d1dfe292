"""Gymnasium's MuJoCo robots of version 5: a file each, called like the robot, that says it all."""
