"""Bad numbers are found wherever they are, and the first of them is named."""

import numpy as np
import pytest

from mppo.errors import EnvironmentFault, LearningFault
from mppo.rollouts import checks
from tests.worlds import random_trajectories


def seen(**poison):
    """Trajectories with values put at (environment, step)."""
    found = random_trajectories(0, 3, 9, 2)
    for field, (e, t, value) in poison.items():
        array = getattr(found, field)
        array[e, t] = value
    return found


def message(trajectories):
    with pytest.raises(EnvironmentFault) as caught:
        checks.check(trajectories, "Bad-v0", 7, 4)
    return str(caught.value)


def test_good_numbers_pass():
    assert checks.check(seen(), "Good-v0", 0, 0) is None
    assert checks.check(seen(rewards=(1, 2, 3e38)), "Large-v0", 0, 0) is None


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("field", "word"), [("rewards", "reward"), ("next_observations", "observation")]
)
def test_all_that_matters_is_in_the_message(field, word, value):
    bad = seen(**{field: (2, 5, value)})
    text = message(bad)
    assert f'"Bad-v0" broke its contract: {word} = ' in text
    assert "environment 2, step 5 of iteration 4, run seed 7" in text
    assert str(value) in text
    assert str(bad.actions[2, 5].tolist()) in text


def test_a_bad_reset_is_a_first_observation():
    text = message(seen(observations=(1, 0, np.nan)))
    assert "first observation" in text
    assert "environment 1, step 0" in text


def test_the_earliest_is_named():
    text = message(seen(rewards=(0, 7, np.nan), next_observations=(2, 3, np.nan)))
    assert "environment 2, step 3" in text


def test_large_numbers_of_either_sign_are_no_fault():
    """Their sum overflows, they themselves are finite: no fault and no warning."""
    found = seen()
    found.rewards[:] = 3e38
    assert checks.check(found, "Large-v0", 0, 0) is None


def test_both_infinities_are_a_fault_and_no_warning():
    found = seen(rewards=(0, 1, np.inf))
    found.rewards[1, 1] = -np.inf
    assert "environment 0, step 1" in message(found)


def test_a_broken_policy_is_not_the_environment_s_fault():
    """Actions that are not finite come from here: blaming the environment would mislead."""
    found = seen(rewards=(0, 3, np.nan))
    found.actions[0, 3] = np.nan
    with pytest.raises(LearningFault, match=r"policy.*environment 0, step 3"):
        checks.check(found, "Innocent-v0", 0, 0)
