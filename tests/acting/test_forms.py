"""How environments take their actions."""

import numpy as np
from gymnasium import spaces

from mppo.acting.forms import CHOICE, DOUBLE, FLOAT, form_of


def test_numbers_have_their_bounds_and_choices_their_first_option():
    box = form_of(spaces.Box(-2.0, np.array([[1.0], [3.0]]), dtype=np.float64))
    assert (box.kind, box.shape, box.least.tolist()) == (DOUBLE, (2, 1), [-2, -2])
    assert box.most.tolist() == [1, 3]
    assert form_of(spaces.Box(-1.0, 1.0, (3,))).kind == FLOAT
    choice = form_of(spaces.Discrete(4, start=2))
    assert (choice.kind, choice.shape, choice.least.tolist()) == (CHOICE, (), [2])
    assert form_of(spaces.MultiDiscrete([2, 3])).least.tolist() == [0, 0]


def test_what_compiled_code_cannot_write_has_no_kind():
    assert form_of(None).kind == form_of(spaces.Box(0, 9, (2,), np.int32)).kind == 0
    assert form_of(spaces.MultiBinary(2)).kind == 0
