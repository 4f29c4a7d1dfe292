"""Published returns: all belong to an entry, and ours are compared at no more steps."""

import pytest

from mppo.files import published, tuned


def test_every_number_belongs_to_an_entry_and_has_a_source():
    found = [other for one in tuned.entries() for other in published.of(one)]
    assert sorted(found, key=str) == sorted(published.read(), key=str)
    assert len(found) == len(set(map(str, found))) == 44
    for one in found:
        assert "commit" in one.source
        assert one.seeds >= 1
        assert one.deviation >= 0
    assert {one.peer for one in found} == {"RL Baselines3 Zoo", "sb3-contrib", "CleanRL"}


@pytest.mark.parametrize("one", tuned.entries(), ids=lambda one: f"{one.method} {one.id}")
def test_no_budget_is_above_the_published_one(one):
    """A task may be published with several budgets; ours is at most the longest of a peer's."""
    steps = [other.steps for other in published.of(one)]
    assert not steps or one.steps <= max(steps)
    zoo = [s.steps for s in published.of(one) if s.peer == "RL Baselines3 Zoo"]
    assert not zoo or one.steps <= min(zoo)


@pytest.mark.parametrize(
    ("ours", "steps", "said"),
    [
        (-171.0, 100_000, "level"),
        (-150.0, 100_000, "above by 22.22"),
        (-180.0, 100_000, "below by 7.775"),
        (-150.0, 200_000, "above by 22.22 with more steps"),
    ],
)
def test_the_verdict_names_the_gap(ours, steps, said):
    entry = tuned.find("ppo", "Pendulum-v1")._replace(steps=steps, deterministic=(ours, ours))
    zoo, other = published.of(entry)
    assert zoo.verdict(entry) == said
    assert other.actions == "sampled"
    assert zoo.verdict(entry._replace(deterministic=())) == "-"
