"""A policy as an ONNX graph: filter, network, distribution and action bounds, all inside."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mppo.export.described import Described, Part, words

OPSET, IR_VERSION = 17, 8  # of 2022: runtimes of all ages can read it

LOWEST = float(np.finfo(np.float32).min)
"""What stands for a choice that is not allowed: below all that a network can say."""


class _Graph:
    """Nodes, constants and outputs, as they are added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, array: Any, dtype: Any = np.float32) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def output(self, name: str, value: str, dtype: int, shape: tuple[int, ...]) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, dtype, ("batch", *shape)))

    def piece(self, value: str, start: int, end: int) -> str:
        """Columns of a matrix."""
        bounds = (self.constant([n], np.int64) for n in (start, end, 1))
        return self.node("Slice", value, *bounds)


def as_onnx(policy: Described, about: dict[str, Any]) -> bytes:
    """A checked model with the input `observation` [batch, obs], flat as `predict` flattens it.

    Outputs: `action` (the most likely one), and `mean` and `std`, or `logits` and
    `log_probabilities`; with several parts, each name ends in `/` and the part's place.
    """
    graph = _Graph()
    outputs = _network(graph, policy)
    if policy.mask:
        mask = graph.piece("observation", *policy.mask)
        allowed = graph.node("Greater", mask, graph.constant(0.5))
        outputs = graph.node("Where", allowed, outputs, graph.constant(LOWEST))
    for part in policy.parts:
        suffix = f"/{part.name}" if part.name else ""
        if part.kind != "categorical":
            _gaussian(graph, part, policy.log_std, outputs, suffix)
        else:
            _categorical(graph, part, outputs, suffix)
    size = len(policy.mean)
    observation = helper.make_tensor_value_info("observation", TensorProto.FLOAT, ("batch", size))
    made = helper.make_graph(graph.nodes, "policy", [observation], graph.outputs, graph.constants)
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(made, producer_name="mppo", opset_imports=[opset])
    model.ir_version = IR_VERSION
    helper.set_model_props(model, {"mppo": json.dumps(words(policy, about), allow_nan=False)})
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


def _network(graph: _Graph, policy: Described) -> str:
    """The network's outputs."""
    x = graph.node("Sub", "observation", graph.constant(policy.mean))
    x = graph.node("Div", x, graph.constant(policy.std))
    if np.isfinite(policy.clip):
        x = graph.node("Clip", x, graph.constant(-policy.clip), graph.constant(policy.clip))
    if policy.turns:
        turned = [graph.node(kind, "observation") for kind in ("Sin", "Cos")]
        x = graph.node("Concat", x, *turned, axis=1)
    for weights, biases in policy.layers[:-1]:
        x = graph.node("Gemm", x, graph.constant(weights), graph.constant(biases))
        if policy.activation == "silu":
            x = graph.node("Mul", x, graph.node("Sigmoid", x))
        else:
            x = graph.node({"tanh": "Tanh", "relu": "Relu", "elu": "Elu"}[policy.activation], x)
    weights, biases = policy.layers[-1]
    return graph.node("Gemm", x, graph.constant(weights), graph.constant(biases))


def _gaussian(graph: _Graph, part: Part, log_std: np.ndarray, outputs: str, suffix: str) -> None:
    mean = graph.piece(outputs, *part.outputs)
    action = mean
    if part.kind == "squashed":  # low + (high - low) (tanh + 1) / 2
        half = (part.high - part.low) / 2
        action = graph.node("Mul", graph.node("Tanh", mean), graph.constant(half))
        action = graph.node("Add", action, graph.constant(part.low + half))
    bounded = graph.node("Max", action, graph.constant(part.low))
    bounded = graph.node("Min", bounded, graph.constant(part.high))
    _action(graph, part, bounded, suffix)
    own = np.exp(log_std[slice(*part.log_std)])
    std = graph.node("Expand", graph.constant(own[None]), graph.node("Shape", mean))
    graph.output(f"mean{suffix}", mean, TensorProto.FLOAT, (len(own),))
    graph.output(f"std{suffix}", std, TensorProto.FLOAT, (len(own),))


def _categorical(graph: _Graph, part: Part, outputs: str, suffix: str) -> None:
    logits = graph.piece(outputs, *part.outputs)
    edges = np.cumsum([0, *part.sizes]).tolist()
    choices = [graph.piece(logits, a, b) for a, b in pairwise(edges)]
    chosen = [graph.node("ArgMax", choice, axis=1, keepdims=1) for choice in choices]
    index = graph.node("Concat", *chosen, axis=1)
    _action(graph, part, graph.node("Add", index, graph.constant(part.start, np.int64)), suffix)
    logs = [graph.node("LogSoftmax", choice, axis=1) for choice in choices]
    together = graph.node("Concat", *logs, axis=1)
    graph.output(f"logits{suffix}", logits, TensorProto.FLOAT, (sum(part.sizes),))
    graph.output(f"log_probabilities{suffix}", together, TensorProto.FLOAT, (sum(part.sizes),))


def _action(graph: _Graph, part: Part, flat: str, suffix: str) -> None:
    """In the shape and type of the action space."""
    shaped = graph.node("Reshape", flat, graph.constant([-1, *part.shape], np.int64))
    dtype = helper.np_dtype_to_tensor_dtype(np.dtype(part.dtype))
    graph.output(f"action{suffix}", graph.node("Cast", shaped, to=dtype), dtype, part.shape)
