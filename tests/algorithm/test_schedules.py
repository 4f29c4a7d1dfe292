"""Schedules: their values, their words, and what is refused."""

import math
from dataclasses import replace

import jax
import pytest

from mppo.algorithm.critic import Critic
from mppo.algorithm.methods import METHODS
from mppo.algorithm.optimisers.ppo import Ppo
from mppo.algorithm.optimisers.trpo import Trpo
from mppo.algorithm.schedules import Called, Schedule, at, rates, schedule, schedules
from mppo.files import settings
from mppo.files.changes import changes, changes_that_hold


def halved(left):
    """A schedule with a branch: no tracer could follow it."""
    return 1e-3 if left > 0.5 else 5e-4


def test_values_by_hand():
    line = Schedule("linear", 0.4, 0.2)
    assert [line.value(left) for left in (1, 0.5, 0)] == pytest.approx([0.4, 0.3, 0.2])
    wave = Schedule("cosine", 0.4)
    expected = [0.4, 0.2 * (1 - math.cos(math.pi / 4)), 0.0]
    assert [wave.value(left) for left in (1, 0.25, 0)] == pytest.approx(expected)
    late = Schedule("late", 0.4, 0.2)
    assert [late.value(x) for x in (1, 0.25, 0.125, 0)] == pytest.approx([0.4, 0.4, 0.3, 0.2])
    assert [schedule(halved).value(left) for left in (1.0, 0.5)] == [1e-3, 5e-4]


@pytest.mark.parametrize("left", [0.7, 0.1])
@pytest.mark.parametrize("shape", ["linear", "cosine", "late"])
def test_values_inside_a_program_are_the_same(shape, left):
    made = Schedule(shape, 0.4, 0.1)
    assert float(jax.jit(made.value)(left)) == pytest.approx(made.value(left), rel=1e-6)


@pytest.mark.parametrize("text", ["linear:0.0003", "cosine:0.2:0.1", "linear:1e-05", "late:0.2"])
def test_words_lead_back_to_the_schedule(text):
    made = schedule(text)
    assert str(made) == text
    assert schedule(str(made)) == made
    assert hash(schedule(str(made))) == hash(made)


def test_a_constant_is_a_number():
    assert schedule("constant:0.2") == schedule("0.2") == schedule(0.2) == 0.2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("linear:-1e-3", "goes below zero"),
        ("linear:1:-1", "goes below zero"),
        ("linear", "neither a number nor a schedule"),
        ("linear:1:2:3", "neither a number nor a schedule"),
        ("linear:x", "neither a number nor a schedule"),
        ("liner:1", 'did you mean "linear"'),
        ("linear:inf", "must be a number"),
        ("no_such_module:f", 'cannot load the schedule "no_such_module:f"'),
        (lambda left: left - 0.1, "goes below zero"),
        (lambda left: "x", "a schedule fails at 1 of the budget: ValueError"),
        (lambda: 1, "a schedule fails at 1 of the budget: TypeError"),
        (lambda left: float("nan"), "is not finite"),
    ],
)
@pytest.mark.parametrize("make", [lambda s: Ppo(learning_rate=s), lambda s: Trpo(max_kl=s)])
def test_what_is_no_schedule_is_refused(make, given, said):
    with pytest.raises(ValueError, match=said):
        make(given)


def test_a_schedule_must_begin_in_the_range_of_its_field():
    assert Ppo(clip="linear:0.2").clip == Schedule("linear", 0.2)
    with pytest.raises(ValueError, match=r"clip begins at 0.0; it must lie in 1e-12"):
        Ppo(clip="linear:0:1")


def scheduled():
    ppo = Ppo(learning_rate="linear:1e-3", clip=halved, entropy_coefficient="cosine:0.01:0.001")
    return replace(METHODS["ppo"], optimiser=ppo, critic=Critic(learning_rate="cosine:1e-2"))


def test_all_schedules_of_a_method_are_found_and_replaced():
    method = scheduled()
    names = {f"optimiser.{name}" for name in ("learning_rate", "clip", "entropy_coefficient")}
    assert set(schedules(method)) == {*names, "critic.learning_rate"}
    now = rates(method, 0.5)
    assert now["optimiser.learning_rate"] == 5e-4
    assert now["optimiser.clip"] == 5e-4
    fixed = at(method, now)
    found = (fixed.optimiser.learning_rate, fixed.critic.learning_rate)
    assert found == pytest.approx((5e-4, 5e-3))
    assert method == scheduled()  # as it was
    plain = METHODS["ppo"]
    assert at(plain, None) is plain
    with pytest.raises(ValueError, match=r"schedules of optimiser.clip, optimiser.learning_rate, "):
        at(method, None)


def test_a_method_with_schedules_is_written_and_read():
    method = scheduled()
    data = settings.to_json(method)
    assert data["optimiser"]["learning_rate"] == {
        "kind": "schedule",
        "shape": "linear",
        "start": 0.001,
        "end": 0.0,
    }
    clip = data["optimiser"]["clip"]
    assert (clip["function"], clip["values"][0]) == (f"{__name__}:halved", 1e-3)
    assert "call" not in clip
    back = settings.from_json(data)
    assert back == method
    told = dict(changes("ppo", method))
    assert told["optimiser.learning-rate"] == "linear:0.001"
    assert told["optimiser.clip"] == f"{__name__}:halved"
    assert dict(changes_that_hold("ppo", method)) == told


def test_a_function_from_a_file_is_known_but_cannot_be_called():
    data = settings.to_json(scheduled())
    back = settings.from_json(data)
    with pytest.raises(ValueError, match=r"code of another package.*pass --allow-imports"):
        rates(back, 1.0)
    data["optimiser"]["clip"]["function"] = ""
    with pytest.raises(ValueError, match="which is not in its files: give it again from Python"):
        rates(settings.from_json(data), 1.0)


def test_an_imported_function_must_give_what_it_gave(monkeypatch):
    text = "tests.schedule_of_a_test:rate"
    import sys
    from types import SimpleNamespace

    module = SimpleNamespace(rate=lambda left: 1e-3 * left)
    monkeypatch.setitem(sys.modules, "tests.schedule_of_a_test", module)
    made = schedule(text)
    assert isinstance(made, Called)
    data = settings.to_json(made)
    assert settings.from_json(data, allow_imports=True).value(0.5) == 5e-4
    module.rate = lambda left: 2e-3 * left
    with pytest.raises(ValueError, match="gives other values than it did"):
        settings.from_json(data, allow_imports=True)
