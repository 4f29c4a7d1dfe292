"""MuJoCo robots, stepped natively."""
