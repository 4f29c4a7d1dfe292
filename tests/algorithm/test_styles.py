"""Styles: read, printed, refused in words, and what a method makes of them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mppo.algorithm.contest import Contest
from mppo.algorithm.exploration.curiosity import Curiosity
from mppo.algorithm.exploration.rnd import Rnd
from mppo.algorithm.heads import Categorical, Gaussian, Product
from mppo.algorithm.methods import METHODS, Method
from mppo.algorithm.picking import Weighted
from mppo.algorithm.styles import ALIKE, ALIKE_SCALE, STYLES, Style, output_scales, style


@dataclass(frozen=True)
class Linear:
    """A network that is not an Mlp."""

    def init(self, key, inputs, outputs, output_scale=1.0):
        return ()

    def apply(self, parameters, x):
        return x


reals = st.floats(0, 1e6, allow_nan=False)
correlations = st.floats(0, 0.999, allow_nan=False)
STYLE = st.builds(
    Style,
    output_scale=reals | st.just(1.0),
    sigma=st.floats(1e-6, 1e6) | st.just(0.3),
    persistence=correlations | st.just(0.0),
    choice_persistence=correlations | st.just(0.0),
    bonus=reals | st.just(0.0),
    filter=st.sampled_from(["running", "folded", "none"]),
)


@given(STYLE)
def test_every_style_is_read_as_it_is_printed(one):
    assert style(str(one)) == one
    assert hash(style(str(one))) == hash(one)


@pytest.mark.parametrize("name", STYLES)
def test_a_known_style_is_printed_by_its_name_and_a_change_by_the_change(name):
    assert str(STYLES[name]) == name
    assert style(name) == STYLES[name]
    changed = replace(STYLES[name], sigma=0.625)
    assert str(changed) == f"{name}:sigma=0.625"
    assert style(f"{name}:") == STYLES[name]  # no change at all


def test_changes_are_read_from_the_left_and_the_rest_stays():
    found = style("alike:sigma=2,filter=folded,sigma=3e-1")
    assert found == Style(sigma=0.3, filter="folded")
    assert style("persistent:bonus=1") == replace(STYLES["persistent"], bonus=1.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("apartt", 'unknown style "apartt"; did you mean "apart"? The styles are: alike'),
        ("zzzzzz", 'unknown style "zzzzzz". The styles are: alike, '),
        ("", 'unknown style "". The styles are: alike, '),
        ("apart:sigm=1", 'a style has no field "sigm"; did you mean "sigma"? Fields: output_scale'),
        ("apart:zzzzzz=1", 'a style has no field "zzzzzz". Fields: output_scale, sigma, '),
        ("apart:sigma=wide", 'sigma of a style is "wide"; give a number'),
        ("apart:sigma", 'sigma of a style is ""; give a number'),
        ("apart:filter=fold", 'filter of a style is "fold"; did you mean "folded"? Allowed: runn'),
        ("apart:sigma=0", "sigma is 0.0; it must lie in 1e-06 ... inf"),
        ("apart:sigma=nan", "sigma is nan; it must lie in"),
        ("apart:persistence=1", "persistence is 1.0; it must lie in 0 ... 0.999999"),
        ("apart:choice_persistence=-0.1", "choice_persistence is -0.1; it must lie in 0 ... "),
        ("apart:bonus=-1", "bonus is -1.0; it must lie in 0 ... inf"),
        ("apart:output_scale=-1", "output_scale is -1.0; it must lie in 0 ... inf"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_value_and_the_way_out(text, said):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        style(text)
    assert said in str(caught.value)


def test_the_default_is_the_paper_s():
    assert Style() == ALIKE == STYLES["alike"]
    assert (ALIKE.output_scale, ALIKE.sigma, ALIKE.filter) == (0.01, 1.0, "running")
    assert ALIKE.white
    assert not ALIKE.starts_apart


def test_apart_and_white_are_told_by_the_numbers():
    assert Style(output_scale=0.11).starts_apart
    assert not Style(output_scale=0.1).starts_apart
    assert not Style(persistence=0.1).white
    assert not Style(choice_persistence=0.1).white
    assert Style(bonus=1.0, sigma=0.1, output_scale=5.0).white


def test_only_continuous_actions_have_an_output_scale():
    one = Style(output_scale=0.5)
    head = Product((Categorical((2, 3)), Gaussian(2), Categorical((2,))))
    wanted = [ALIKE_SCALE] * 5 + [0.5] * 2 + [ALIKE_SCALE] * 2
    np.testing.assert_allclose(output_scales(one, head), wanted)
    np.testing.assert_allclose(output_scales(one, Gaussian(3)), [0.5] * 3)
    np.testing.assert_allclose(output_scales(one, Categorical((4,))), [ALIKE_SCALE] * 4)


CONTEST = Contest(caution=1.0, ahead=10.0, patience=2, share=2, looks_back=4)


def test_styles_of_a_method_may_be_words():
    method = Method(paths=3, styles=["alike", "apart:sigma=0.5", Style(sigma=2.0)])
    assert method.styles == (ALIKE, replace(STYLES["apart"], sigma=0.5), Style(sigma=2.0))
    assert hash(method) == hash(replace(method, styles=method.styles))
    assert (method.folds, method.bonus_apart, method.renews, method.looks_back) == (
        *(False, False, False),
        0,
    )
    assert Method(styles=("alike:filter=folded",)).folds
    curious = Method(paths=2, styles=("alike", "curious"), exploration=Curiosity())
    assert curious.bonus_apart
    assert not curious.renews
    assert replace(curious, picking=CONTEST).renews
    assert replace(curious, picking=CONTEST).looks_back == 4
    alone = replace(curious, styles=("curious",), picking=CONTEST)
    assert not alone.renews  # there is no plain style to draw anew


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"styles": ("alike:bonus=1",)}, "the method has none; add --exploration curiosity"),
        ({"styles": ("alike",), "exploration": Rnd()}, "no style takes it; give one bonus=1"),
        (
            {"styles": ("alike",), "exploration": Curiosity(), "picking": CONTEST},
            "no style takes it; give one bonus=1",
        ),
        ({"styles": ("apart",), "race": 1}, "race is 1, which needs --picking contest"),
        ({"race": 1, "picking": CONTEST}, "race is 1, which needs"),
        ({"race": -1}, "race is -1; it must be at least 0"),
        (
            {"styles": ("alike:filter=none",), "observation_filter": "none"},
            "a style has the filter 'none', which needs the observation_filter per-path; it is 'no",
        ),
        (
            {"styles": ("alike", "alike:filter=folded"), "observation_filter": "shared"},
            "a style has the filter 'folded', which needs the observation_filter per-path",
        ),
        (
            {"styles": ("alike:filter=folded",), "network": Linear()},
            "the filter 'folded' needs an Mlp; the network is Linear()",
        ),
        ({"styles": ("apartt",)}, 'unknown style "apartt"; did you mean "apart"'),
    ],
)
def test_a_method_refuses_styles_that_would_have_no_effect(changes, said):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        Method(**{"paths": 2, **changes})
    assert said in str(caught.value)


def test_styles_without_a_filter_of_their_own_go_with_any_filter():
    for kind in ("shared", "none", "per-path"):
        assert Method(styles=("alike:sigma=0.5",), observation_filter=kind).styles[0].sigma == 0.5


def test_the_paper_s_methods_have_no_styles():
    papers = [name for name in METHODS if not name.startswith("sp-")]
    assert len(papers) == 14
    for name in papers:
        assert (METHODS[name].styles, METHODS[name].race) == ((), 0)
    assert METHODS["mp-trpo"].picking == Weighted(alpha=0.1)
