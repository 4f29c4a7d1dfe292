"""How one path explores: how it begins, how it acts, what it is paid for, how it sees.

With a small output scale and the same standard deviation, K random policies behave as one: their
means are all but zero. A style sets a path apart from the others; a method may have several.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import inf
from typing import Literal, get_type_hints

from mppo.algorithm.heads import Gaussian, Head, parts
from mppo.errors import check_ranges, did_you_mean
from mppo.machine.lazy import jax, jnp

ALIKE_SCALE = 0.01
"""Output scale at which all actions are alike at the start, as in the base code."""
Sight = Literal["running", "folded", "none", "turning"]


@dataclass(frozen=True)
class Style:
    """How a path explores; the defaults are those of the paper's methods."""

    output_scale: float = ALIKE_SCALE
    """Scale of the last layer's first weights for continuous actions; choices always begin at
    0.01, where all of them are as likely."""
    sigma: float = 1.0
    """Standard deviation of continuous actions at the start."""
    persistence: float = 0.0
    """Correlation of the noise of continuous actions from one step to the next."""
    choice_persistence: float = 0.0
    """The same for choices, in the normal numbers that their noise is made from."""
    bonus: float = 0.0
    """Weight of the method's exploration bonus beside the task, both standardised, in what this
    path learns from; batches without a signal of the task are followed by the bonus alone."""
    recalls: float = 0.0
    """Weight of what V remembers of the task in batches without a signal of it, beside the bonus
    and in the unit of batches with one; 0, or before the first pay: the bonus alone."""
    reach: float = 1.0
    """How far one step of this path may go: the trust region of TRPO times this."""
    filter: Sight = "running"
    """Observations standardised by running numbers; the same, but no change of these numbers
    changes the policy (folded into its first layer); as they are; or standardised and beside them
    sine and cosine of each, for angles that go round and round."""

    def __post_init__(self) -> None:
        below_one = (0, 0.999999)
        check_ranges(self, output_scale=(0, inf), sigma=(1e-6, inf))
        check_ranges(self, persistence=below_one, choice_persistence=below_one)
        check_ranges(self, bonus=(0, inf), recalls=(0, inf), reach=(1e-6, inf))

    def __str__(self) -> str:
        """The words that `style` reads: a known name, and what differs from it."""
        differences = {
            name: [
                f"{field.name}={getattr(self, field.name)}"
                for field in fields(self)
                if getattr(self, field.name) != getattr(known, field.name)
            ]
            for name, known in STYLES.items()
        }
        name = min(differences, key=lambda name: len(differences[name]))
        return f"{name}:{','.join(differences[name])}" if differences[name] else name

    @property
    def starts_apart(self) -> bool:
        """Whether two random policies of this style behave unlike each other."""
        return self.output_scale > 10 * ALIKE_SCALE

    @property
    def white(self) -> bool:
        """Whether no step's noise depends on the step before."""
        return self.persistence == 0 and self.choice_persistence == 0


ALIKE = Style()
STYLES: dict[str, Style] = {
    "alike": ALIKE,
    "apart": Style(output_scale=1.0, sigma=0.3, filter="none"),
    "persistent": Style(persistence=0.8, choice_persistence=0.9),
    "curious": Style(bonus=0.1),
}
"""Styles by name; `style` reads changes of them."""


def style(text: str) -> Style:
    """The style of a name, or of a name and changes of its fields.

    >>> style("apart").sigma, style("apart:sigma=0.5,bonus=1").sigma
    (0.3, 0.5)
    >>> str(Style(output_scale=1.0, sigma=0.5, filter="none"))
    'apart:sigma=0.5'
    """
    name, _, changes = text.partition(":")
    if name not in STYLES:
        hint = did_you_mean(name, STYLES, f"The styles are: {', '.join(STYLES)}")
        raise ValueError(f'unknown style "{name}"{hint}')
    made, kinds = STYLES[name], get_type_hints(Style)
    for change in filter(None, changes.split(",")):
        field, _, value = change.partition("=")
        if field not in kinds:
            hint = did_you_mean(field, kinds, f"Fields: {', '.join(kinds)}")
            raise ValueError(f'a style has no field "{field}"{hint}')
        made = replace(made, **{field: _read(field, value, kinds[field])})
    return made


def _read(field: str, text: str, kind: object) -> float | str:
    if kind is float:
        try:
            return float(text)
        except ValueError as error:
            raise ValueError(f'{field} of a style is "{text}"; give a number') from error
    allowed = Sight.__args__
    if text not in allowed:
        hint = did_you_mean(text, allowed, f"Allowed: {', '.join(allowed)}")
        raise ValueError(f'{field} of a style is "{text}"{hint}')
    return text


def output_scales(one: Style, head: Head) -> jax.Array:
    """The scale of the last layer's weights for each output of a network under this head."""
    scales = [
        one.output_scale if isinstance(part, Gaussian) else ALIKE_SCALE
        for part in parts(head)
        for _ in range(part.outputs)
    ]
    return jnp.asarray(scales)
