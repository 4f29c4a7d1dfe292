"""A sparse robot as a single environment."""

import gymnasium
import numpy as np

import mppo.envs  # noqa: F401


def test_sparse_keeps_the_physics_of_gymnasium():
    for name, base, kwargs in (
        ("SparseHalfCheetah", "HalfCheetah-v5", {}),
        ("SparseHopper", "Hopper-v5", {}),
        ("SparseWalker2d", "Walker2d-v5", {"xml_file": "walker2d.xml"}),
    ):
        theirs, ours = gymnasium.make(base, **kwargs), gymnasium.make(f"mppo/{name}-v0")
        assert (theirs.reset(seed=1)[0] == ours.reset(seed=1)[0]).all()
        generator = np.random.default_rng(0)
        for _ in range(60):
            action = generator.normal(size=ours.action_space.shape).astype(np.float32)
            mine, other = ours.step(action), theirs.step(action)
            assert mine[0].tobytes() == other[0].tobytes()
            assert mine[2:4] == other[2:4]
            assert mine[1] in (0.0, 1.0)
            assert mine[4]["x_position"] == other[4]["x_position"]
            if mine[2]:
                ours.reset(), theirs.reset()
        assert ours.unwrapped.dt == theirs.unwrapped.dt
        assert ours.metadata["render_fps"] == theirs.metadata["render_fps"]


def test_observe_position():
    env = gymnasium.make("mppo/SparseHopper-v0", observe_position=True)
    observation, info = env.reset(seed=0)
    assert observation.shape == (12,)
    assert observation[0] == info["x_position"]
