"""The pure core: Algorithm 1 as functions of arrays, for `jit`, `vmap` and loops of one's own.

    state = init(method, architecture, key)
    i, policy = pick(method, state)                      # lines 2-4
    trajectories = ...                                   # line 5: yours
    state, metrics = learn(method, architecture, state, i, trajectories)   # lines 6-12

`method` and `architecture` are frozen dataclasses and static; everything else is a tree of arrays.
"""

# pyright: strict
from mppo.acting.spaces import Spaces
from mppo.algorithm.critic import Critic
from mppo.algorithm.heads import Categorical, Gaussian, Product
from mppo.algorithm.iteration import State, init, iterate, learn, measure_only, pick, report
from mppo.algorithm.methods import METHODS, Method
from mppo.algorithm.networks import Mlp
from mppo.algorithm.optimisers.ppo import Ppo
from mppo.algorithm.optimisers.trpo import Trpo
from mppo.algorithm.policies import Architecture, Policy
from mppo.algorithm.population import Member, member
from mppo.algorithm.schedules import Schedule, rates
from mppo.algorithm.types import Earlier, Network, Trajectories

__all__ = [
    "METHODS",
    "Architecture",
    "Categorical",
    "Critic",
    "Earlier",
    "Gaussian",
    "Member",
    "Method",
    "Mlp",
    "Network",
    "Policy",
    "Ppo",
    "Product",
    "Schedule",
    "Spaces",
    "State",
    "Trajectories",
    "Trpo",
    "init",
    "iterate",
    "learn",
    "measure_only",
    "member",
    "pick",
    "rates",
    "report",
]
