"""Networks from elsewhere: an Equinox and a Flax network as an `init`/`apply` pair.

Run it here, or from the command line in this folder:

    mppo train ppo CartPole-v1 --steps 5e4 --network own_network:Equinox --network.width 32
"""

from dataclasses import dataclass

import equinox
import flax.linen
import jax

import mppo


class Layers(equinox.Module):
    """Two hidden layers; all its leaves are arrays, so it is its own tree of parameters."""

    layers: list

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = jax.nn.silu(layer(x))
        return self.layers[-1](x)


@dataclass(frozen=True)
class Equinox:
    """A network made with Equinox."""

    width: int = 64
    """Units of each hidden layer."""

    def init(self, key, inputs, outputs, output_scale=1.0):
        sizes = (inputs, self.width, self.width, outputs)
        keys = jax.random.split(key, 3)
        made = [equinox.nn.Linear(sizes[n], sizes[n + 1], key=keys[n]) for n in range(3)]
        last = lambda net: net.layers[-1].weight  # small at first: all actions alike
        return equinox.tree_at(last, Layers(made), made[-1].weight * output_scale)

    def apply(self, parameters, x):
        return parameters(x)


@dataclass(frozen=True)
class Flax:
    """A network made with Flax, with a layer norm before the output."""

    width: int = 64
    """Units of the hidden layer."""

    def _module(self, outputs):
        layers = [flax.linen.Dense(self.width), flax.linen.tanh, flax.linen.LayerNorm()]
        return flax.linen.Sequential([*layers, flax.linen.Dense(outputs)])

    def init(self, key, inputs, outputs, output_scale=1.0):
        parameters = self._module(outputs).init(key, jax.numpy.zeros(inputs))
        last = parameters["params"]["layers_3"]
        last["kernel"] = last["kernel"] * output_scale
        return parameters

    def apply(self, parameters, x):
        outputs = len(parameters["params"]["layers_3"]["bias"])
        return self._module(outputs).apply(parameters, x)


if __name__ == "__main__":
    agent = mppo.MPPO(
        "CartPole-v1",
        "ppo",
        network=Equinox(width=16),
        critic__network=Flax(width=16),
        batch_size=512,
        eval_every=0,
    )
    agent.learn(3 * 512)
    print("mean returns", [float(row["return_mean"]) for row in agent.metrics])
