"""The base optimisers of line 9: TRPO and PPO."""
