"""What `run.json` says, checked field by field before anything is made of it."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

from mppo.algorithm.methods import Method
from mppo.algorithm.performance import Unfinished
from mppo.envs.recorded import imports_code
from mppo.errors import BadRequest
from mppo.files.changes import changes
from mppo.files.evaluation import Evaluation
from mppo.files.settings import from_json
from mppo.machine.seeding import LARGEST

_KINDS: dict[str, type] = {
    "format": int,
    "method_name": str,
    "method": dict,
    "env": str,
    "env_kwargs": dict,
    "steps": int,
    "seed": int,
    "evaluation": dict,
    "clip_actions": bool,
}


class Described(NamedTuple):
    """All that is needed to run it again."""

    method_name: str
    method: Method
    env: str
    env_kwargs: dict[str, Any]
    steps: int
    seed: int
    evaluation: Evaluation
    clip_actions: bool
    unfinished: Unfinished


def described(
    found: dict[str, Any], allow_imports: bool = False, other_env: bool = False
) -> Described:
    """The run that a file describes; what is not as it should be raises BadRequest.

    Components and environments of other packages (`module:Class`, `module:id`) would have to be
    imported, which runs their code: that is done only where the caller allows it. With
    `other_env` the environment comes from elsewhere, and its name here does not matter.
    """
    for name, kind in _KINDS.items():
        if type(found.get(name)) is not kind:
            raise BadRequest(f'the description of the run has no valid "{name}"')
    env = found["env"]
    if not (allow_imports or other_env) and imports_code(env):
        raise BadRequest(
            f'the environment "{env}" would import code of another package, which is not done just '
            "because a file names it; pass --allow-imports (allow_imports=True) if you trust it"
        )
    try:
        method = from_json(found["method"], allow_imports)
        evaluation = from_json(found["evaluation"])
    except RecursionError:
        raise BadRequest("the description of the run is nested too deeply") from None
    if not isinstance(method, Method) or not isinstance(evaluation, Evaluation):
        raise BadRequest('the description of the run has no valid "method" or "evaluation"')
    name = found["method_name"]
    # Versions before it wrote the name alone. Where the changes do not lead to the method, the name
    # has other settings in this version, or the file was altered: the settings decide what is run.
    if "changes" in found and found["changes"] != [list(one) for one in changes(name, method)]:
        name = "custom"
    steps, seed, clip = found["steps"], found["seed"], found["clip_actions"]
    if not (0 < steps < 1 << 63 and 0 <= seed <= LARGEST):
        raise BadRequest(f"the run has steps {steps} and seed {seed}")
    unfinished = found.get("unfinished", "drop")  # as it was before there was a choice
    if unfinished not in get_args(Unfinished):
        raise BadRequest(f'the description of the run has no valid "unfinished": {unfinished!r}')
    kwargs = found["env_kwargs"]
    return Described(name, method, env, kwargs, steps, seed, evaluation, clip, unfinished)
