"""`mppo export`: a policy for use elsewhere."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING, Any

from mppo.cli.parser import RUN_CODES, Parser, file_to_write
from mppo.cli.runs import add_run_options, open_run
from mppo.errors import BadRequest

if TYPE_CHECKING:
    from mppo.acting.agent import Agent
    from mppo.training.opening import Opened

ABOUT = """\
Write the policy in a run directory for use without mppo.

  policy.onnx         an ONNX graph: input `observation` [batch, numbers],
                      outputs `action` (the most likely one) and `mean`, `std`
                      or `logits`, `log_probabilities`; observation filter and
                      action bounds are inside
  policy.safetensors  plain arrays, with a description as JSON in the metadata
                      and in policy.json beside it; examples/numpy_policy.py
                      runs it with NumPy

Both say how an observation is flattened. Needs for ONNX: mppo[export]."""


def main(command: str, words: list[str]) -> int:
    """Write one file."""
    examples = ["mppo export runs/maze --out policy.onnx"]
    parser = Parser("export", ABOUT, examples, RUN_CODES)
    add_run_options(parser)
    parser.add_argument("--out", required=True, metavar="FILE", help="a .onnx or .safetensors file")
    options = parser.parse_args(words)
    out = file_to_write(options.out, (".onnx", ".safetensors"))
    graph = out.suffix.lower() == ".onnx"
    if graph and importlib.util.find_spec("onnx") is None:
        raise BadRequest('ONNX needs the package onnx; install it: pip install "mppo[export]"')

    from mppo.export.described import as_safetensors, described
    from mppo.export.described import words as in_words
    from mppo.files.atomic import write_atomically

    run = open_run(options)
    agent = run.agent(options.path)
    policy = described(agent)
    about = _about(run, agent)
    if graph:
        from mppo.export.graph import as_onnx

        write_atomically(out, as_onnx(policy, about))
    else:
        write_atomically(out, as_safetensors(policy, about))
        text = json.dumps(in_words(policy, about), indent=2, allow_nan=False) + "\n"
        write_atomically(out.with_suffix(".json"), text.encode())
    outputs = ", ".join(part.name or "action" for part in policy.parts)
    print(f"{out}: {len(policy.mean)} numbers in, {outputs} out (path {agent.path})")
    return 0


def _about(run: Opened, agent: Agent) -> dict[str, Any]:
    """Where the policy comes from."""
    return {
        "method": run.described.get("method_name", "custom"),
        "env": run.task.name,
        "seed": run.described["seed"],
        "steps": run.steps,
        "path": agent.path,
        "clips_actions": agent.clip,
        "mppo": run.described.get("versions", {}).get("mppo"),
    }
