import pytest

from mppo.bench.ratios import Ratio, quotients, spread


def test_median_of_quotients_is_not_the_quotient_of_medians():
    above, below = [1.0, 10.0, 4.0], [2.0, 5.0, 1.0]  # 0.5, 2, 4; medians give 4 / 2 as well
    ratio = Ratio("x", "x", quotients(above, below))
    assert ratio.values == (0.5, 2.0, 4.0)
    assert ratio.median == 2.0
    assert (ratio.as_json()["least"], ratio.as_json()["most"]) == (0.5, 4.0)


@pytest.mark.parametrize(
    ("target", "sense", "met"),
    [
        (1.0, "at least", True),
        (1.01, "at least", False),
        (1.0, "at most", True),
        (0.99, "at most", False),
        (None, "at least", None),
    ],
)
def test_targets(target, sense, met):
    assert Ratio("x", "x", (0.9, 1.0, 1.2), target, sense).met is met


def test_repetitions_must_match():
    with pytest.raises(ValueError, match="shorter"):
        quotients([1.0, 2.0], [1.0])


def test_spread():
    assert spread([5.0]) == {"median": 5.0, "least": 5.0, "most": 5.0}
