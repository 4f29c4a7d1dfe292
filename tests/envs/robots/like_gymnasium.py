"""Shared by the tests of the robots: a lane beside Gymnasium's own environment, bit for bit."""

import gymnasium
import numpy as np

from mppo.envs.batch import BatchVectorEnv

DTYPES = (np.float32, np.float64)


def assert_like_gymnasium(name, kwargs, dtype):
    """Spaces, starts, observations, rewards and ends, under the same random actions."""
    env = gymnasium.make(name, disable_env_checker=True, **kwargs)
    vector = BatchVectorEnv(name, 1, **kwargs)
    lane = vector.lanes[0]
    assert vector.single_observation_space == env.observation_space
    assert vector.single_action_space == env.action_space
    first, _ = vector.reset(seed=5)
    assert first[0].tobytes() == env.reset(seed=5)[0].tobytes()
    generator = np.random.default_rng(1)
    for _ in range(1010 if not kwargs and dtype is np.float32 else 250):
        action = (generator.normal(size=lane.model.nu) * 1.3).astype(dtype)
        observation, reward, *flags, _ = env.step(action)
        ours = lane.step(action)
        assert observation.tobytes() == lane.observation.tobytes()
        assert np.float64(reward).tobytes() == np.float64(ours[0]).tobytes()
        assert tuple(flags) == ours[1:]
        assert [type(x) for x in ours] == [float, bool, bool]
        if any(flags):
            observation, _ = env.reset()
            lane.reset()
            assert observation.tobytes() == lane.observation.tobytes()
    assert not lane.bad_numbers()
