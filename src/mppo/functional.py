"""The pure core: Algorithm 1 as functions of arrays, for `jit`, `vmap` and loops of one's own.

    state = init(method, architecture, key)
    i, policy = pick(method, state)                      # lines 2-4
    trajectories = ...                                   # line 5: yours
    state, metrics = learn(method, architecture, state, i, trajectories)   # lines 6-12

`method` and `architecture` are frozen dataclasses and static; everything else is a tree of arrays.
"""

# pyright: strict
from mppo.critic import Critic
from mppo.heads import Categorical, Gaussian, Product
from mppo.iteration import State, init, iterate, learn, measure_only, pick, report
from mppo.methods import METHODS, Method
from mppo.networks import Mlp
from mppo.policies import Architecture, Policy
from mppo.population import Member, member
from mppo.ppo import Ppo
from mppo.spaces import Spaces
from mppo.trpo import Trpo
from mppo.types import Earlier, Network, Trajectories

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
    "report",
]
