"""The whole state of a MuJoCo environment of others, as arrays: for episodes that go on later.

MuJoCo's own state is known. What else an environment keeps are attributes in Python: numbers,
arrays, random generators, and lists and dictionaries of such are read; where anything else is met
that may change, the state cannot be told. That what was read is enough is not believed but tried:
`proven` lets a second environment go on from it, and compares bit for bit.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from mppo.envs.checked import CheckedVectorEnv
from mppo.envs.contract import State, generator_words, set_generator_words
from mppo.envs.robots.engine import PHYSICS, mujoco, physics_of, uses_mujoco

_CONSTANT = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_CONSTANT += (types.ModuleType, np.dtype, EnvSpec, gymnasium.Space)
_PLAIN = (bool, int, float, str, type(None))
_KNOWN = (*_PLAIN, np.generic, np.ndarray, np.random.Generator, list, tuple, dict)


class Unknown(TypeError):
    """An attribute whose value cannot be told."""


def _arrays(owner: Any, model: Any) -> dict[str, np.ndarray]:
    """The double-precision arrays of MuJoCo's model or data that keep their size.

    The others are of constraints, and made anew in every step.
    """
    lasting = owner if isinstance(owner, mujoco.MjModel) else mujoco.MjData(model)
    found = {name: getattr(lasting, name) for name in dir(lasting) if not name.startswith("_")}
    kept = lambda a: isinstance(a, np.ndarray) and a.dtype == np.float64 and a.flags.writeable
    return {name: getattr(owner, name) for name, a in found.items() if kept(a) and a.size}


def _attributes(thing: Any, path: str, met: set[int]) -> Iterator[tuple[str, Any, str, Any]]:
    """Every attribute that may change, with its path, its owner and its name."""
    met.add(id(thing))
    for name, value in list(vars(thing).items()):
        where, kind = f"{path}.{name}", type(value)
        draws = kind.__module__ == "gymnasium.envs.mujoco.mujoco_rendering"
        if draws or isinstance(value, _CONSTANT) or id(value) in met:
            continue
        if isinstance(value, mujoco.MjData | mujoco.MjModel):
            met.add(id(value))
            yield where, thing, name, value
        elif isinstance(value, _KNOWN):
            yield where, thing, name, value
        elif hasattr(value, "__dict__") and kind.__flags__ & (1 << 9):  # a class of Python's
            yield from _attributes(value, where, met)
        else:
            raise Unknown(f"{where} is a {kind.__module__}.{kind.__qualname__}")


def _coded(value: Any) -> Any:
    """As JSON can hold it, with nothing lost."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, np.generic):
        return {"scalar": value.item(), "dtype": value.dtype.str}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return {"array": value.tolist(), "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_coded(part) for part in value]}
    if isinstance(value, dict):
        return {"dict": [[_coded(key), _coded(part)] for key, part in value.items()]}
    if isinstance(value, _CONSTANT):
        return {"constant": type(value).__name__}  # it must be there already
    raise Unknown(f"cannot tell the value of a {type(value).__name__}")


def _decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "scalar" in value:
        return np.dtype(value["dtype"]).type(value["scalar"])
    if "array" in value:
        return np.array(value["array"], value["dtype"]).reshape(value["shape"])
    if "dict" in value:
        return {_decoded(key): _decoded(part) for key, part in value["dict"]}
    if "constant" in value:
        raise Unknown(f"a {value['constant']} cannot be made from a file")
    kind = list if "list" in value else tuple
    return kind(_decoded(part) for part in value[kind.__name__])


def captured(env: gymnasium.Env) -> State:
    """All that the environment's future depends on, as arrays by name."""
    state: State = {}
    plain: dict[str, Any] = {}
    base: Any = env.unwrapped
    for path, _, _, value in _attributes(env, "env", set()):
        if isinstance(value, mujoco.MjData | mujoco.MjModel):
            kept = _arrays(value, base.model)
            state |= {f"{path}:{name}": array.copy() for name, array in kept.items()}
        elif isinstance(value, np.random.Generator):
            state[f"{path}:generator"] = generator_words(value)
        else:
            plain[path] = _coded(value)
    physics = physics_of(base.model, base.data)
    text = json.dumps(plain).encode()
    return {**state, "physics": physics, "python": np.frombuffer(text, np.uint8).copy()}


def put_back(env: gymnasium.Env, state: State) -> None:
    """Go on where `captured` was called."""
    env.reset(seed=0)  # whatever is made at the first reset is there now
    plain = json.loads(state["python"].tobytes())
    base: Any = env.unwrapped
    expected = {"physics", "python"}
    for path, owner, name, value in list(_attributes(env, "env", set())):
        if isinstance(value, mujoco.MjData | mujoco.MjModel):
            for field, array in _arrays(value, base.model).items():
                array[...] = state[f"{path}:{field}"]
                expected.add(f"{path}:{field}")
        elif isinstance(value, np.random.Generator):
            set_generator_words(value, state[f"{path}:generator"])
            expected.add(f"{path}:generator")
        elif path in plain:
            _set(owner, name, value, plain[path])
    if set(state) != expected:
        raise ValueError(f"state holds {sorted(set(state) ^ expected)} beside what is known")
    mujoco.mj_setState(base.model, base.data, state["physics"], PHYSICS)


def _set(owner: Any, name: str, now: Any, coded: Any) -> None:
    if _coded(now) == coded:
        return
    then = _decoded(coded)
    alike = isinstance(now, np.ndarray) and isinstance(then, np.ndarray) and now.flags.writeable
    if alike and (now.shape, now.dtype) == (then.shape, then.dtype):
        now[...] = then  # others may hold the same array
    else:
        vars(owner)[name] = then


class CapturedVectorEnv(CheckedVectorEnv):
    """Environments of MuJoCo's whose state can be told."""

    def get_state(self) -> State:
        """All that the future depends on, as arrays."""
        states = [captured(env) for env in self.envs]
        return {f"{i}/{name}": a for i, state in enumerate(states) for name, a in state.items()}

    def set_state(self, state: State) -> None:
        """Continue from what get_state returned, bit for bit."""
        for i, env in enumerate(self.envs):
            cut = f"{i}/"
            own = {n.removeprefix(cut): a for n, a in state.items() if n.startswith(cut)}
            if "python" not in own:
                raise ValueError(f"state holds nothing of environment {i}")
            put_back(env, own)


def checked_vector(makers: Sequence[Callable[[], gymnasium.Env]], name: str) -> CheckedVectorEnv:
    """Environments of others side by side; those of MuJoCo's can tell their state, most of them."""
    first = makers[0]()
    kind = CapturedVectorEnv if uses_mujoco(first) else CheckedVectorEnv
    return kind([lambda: first, *makers[1:]], name)


def proven(vector: Any) -> bool:
    """Whether the second of two environments goes on as the first does, from the first's state."""
    if not isinstance(vector, CapturedVectorEnv):
        return False
    one, other = vector.envs[:2]
    space = one.action_space
    space.seed(0)
    try:
        one.reset(seed=3)
        other.reset(seed=4)
        for _ in range(2):
            one.step(space.sample())
        other.step(space.sample())
        put_back(other, captured(one))
        for n in range(6):
            action = space.sample()
            if _bits(one.step(action)) != _bits(other.step(action)):
                return False
            if n == 3 and _bits(one.reset()) != _bits(other.reset()):
                return False
    except Exception:  # of whatever kind: it is not proven then
        return False
    return True


def _bits(answer: Any) -> Any:
    observation, *rest = answer[:-1]  # the last one is info
    parts = observation.values() if isinstance(observation, dict) else [observation]
    return [np.asarray(part).tobytes() for part in (*parts, *rest)]
