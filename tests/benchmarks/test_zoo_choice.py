"""The rule that chooses settings of the zoo, and the sweeps that it looks at."""

from pathlib import Path

import pytest

from benchmarks import zoo_choice
from mppo.experiments.collection import Record
from mppo.experiments.sweep import read
from mppo.files import settings, tuned

SWEEPS = sorted(Path("benchmarks/zoo").glob("*.toml"))


def run(gamma, score, seed=100, finished=True):
    method = settings.overridden(settings.method_named("trpo"), {"gamma": gamma})
    found = Record(
        Path("x"), "trpo", settings.to_json(method), "CartPole-v1", {}, seed, 9, finished
    )
    found.__dict__["_evaluations"] = [{"mean_return_deterministic": score}]
    return found


def rows_of(runs):
    return zoo_choice.rows_of(zoo_choice.by_setting(runs))


def test_the_highest_mean_is_chosen():
    some = [run(0.9, score) for score in (1.0, 2.0, 6.0)] + [run(0.5, 2.9) for _ in range(3)]
    best, other = rows_of(some)
    assert best == ["gamma=0.9", "3.0", "1.0 2.0 6.0", "yes"]
    assert other == ["gamma=0.5", "2.9", "2.9 2.9 2.9", ""]


def test_nothing_is_chosen_before_all_runs_are_there():
    some = [run(0.9, 1.0) for _ in range(3)] + [run(0.5, 0.0), run(0.5, 0.0, 101)]
    assert [row[-1] for row in rows_of(some)] == ["", ""]
    missing = [run(0.9, 1.0) for _ in range(3)] + [run(0.5, 0.0, finished=False)]
    assert [row[-1] for row in rows_of(missing)] == [""]


def test_what_is_chosen_becomes_the_entry_and_is_not_measured_yet(monkeypatch):
    some = [run(0.9, 1.0) for _ in range(3)] + [run(0.5, 0.0) for _ in range(3)]
    monkeypatch.setattr(zoo_choice, "collect", lambda root: some)
    entry = tuned.find("trpo", "CartPole-v1")._replace(settings={"gamma": 0.5}, returns=(7.0,))
    others = [tuned.find("ppo", "CartPole-v1"), tuned.find("trpo", "Acrobot-v1")]
    first, *rest = zoo_choice.entered(Path("x"), [entry, *others])
    assert (first.settings, first.returns, first.source) == ({"gamma": 0.9}, (), zoo_choice.SOURCE)
    assert rest == others
    same = entry._replace(settings={"gamma": 0.9, "paths": 1})  # said in other words
    assert zoo_choice.entered(Path("x"), [same]) == [same]


@pytest.mark.parametrize("file", SWEEPS, ids=lambda file: file.stem)
def test_the_sweeps_choose_on_their_own_seeds_and_have_the_steps_of_their_entries(file):
    runs = read(file, lambda env, arguments: env).runs
    assert {one.seed for one in runs} == {100, 101, 102}
    for one in runs:
        assert one.steps == tuned.find(one.name, one.env, dict(one.env_kwargs)).steps
    assert len({one.run_id for one in runs}) == len(runs)
