"""Groups and their names."""

from mppo.algorithm.methods import METHODS
from mppo.files import settings
from mppo.files.changes import differing
from mppo.report.compare import groups, repeated
from mppo.report.read import read
from tests.report.made import described, write


def read_all(tmp_path, runs):
    return [read(write(tmp_path / str(place), run), str(place)) for place, run in enumerate(runs)]


def overridden(name, changes, seed=0):
    method = settings.to_json(settings.overridden(METHODS[name], changes))
    return described(name, seed, method=method)


def test_seeds_of_one_configuration_are_one_group(tmp_path):
    runs = [described("trpo", 2), described("mp-trpo", 0), described("trpo", 1)]
    found = groups(read_all(tmp_path, runs))
    assert [group.label for group in found] == ["TRPO", "MP-TRPO"]
    assert [run.described["seed"] for run in found[0].runs] == [1, 2]


def test_another_task_or_argument_is_another_group(tmp_path):
    runs = [
        described(),
        described(env="Hopper-v5"),
        described(env_kwargs={"layout": "one-wall"}),
    ]
    tasks = [group.task for group in groups(read_all(tmp_path, runs))]
    assert tasks == ["Hopper-v5", "mppo/Maze-v0", "mppo/Maze-v0 (layout one-wall)"]


def test_namesakes_are_told_apart_by_what_differs(tmp_path):
    thompson = described()
    thompson["method"]["picking"] = {"kind": "my.module:Thompson", "spread": 1.0}
    runs = [
        described(),
        thompson,
        overridden("mp-trpo", {"picking": "best"}),
        overridden("mp-trpo", {"paths": 4, "optimiser.max_kl": 0.1}),
    ]
    assert [group.label for group in groups(read_all(tmp_path, runs))] == [
        "MP-TRPO",
        "MP-TRPO · max_kl 0.1, paths 4",
        "MP-TRPO · picking Thompson",
        "MP-TRPO · picking best",
    ]


def test_a_method_without_a_name_is_called_after_the_nearest(tmp_path):
    run = overridden("multi-ppo", {"paths": 5}) | {"method_name": "custom"}
    (found,) = groups(read_all(tmp_path, [run]))
    assert found.label == "Multi-PPO · paths 5"


def test_an_optimiser_of_one_s_own_shows_its_name_alone(tmp_path):
    run = described()
    run["method"]["optimiser"] = {"kind": "natural:NaturalGradient", "step": 0.1}
    (found,) = groups(read_all(tmp_path, [run]))
    assert found.label == "MP-TRPO · optimiser NaturalGradient"


def test_fields_of_unlike_components_are_no_differences():
    rows = [{"picking": "best", "picking.ties": "x"}, {"picking": "mine:A", "picking.spread": "1"}]
    assert differing(rows) == ["picking"]


def test_the_same_seed_twice_is_said(tmp_path):
    found = groups(read_all(tmp_path, [described(), described()]))
    assert repeated(found) == [
        "MP-TRPO on mppo/Maze-v0: seed 0 is there 2 times, and is counted as often; its runs are "
        "no independent samples"
    ]
