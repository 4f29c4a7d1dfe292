"""The picture of styles shows what runs recorded."""

import json
import runpy
from pathlib import Path

from mppo import METHODS
from mppo.files import settings

ROOT = Path(__file__).parents[2]
MADE = runpy.run_path(str(ROOT / "docs" / "exploration.py"))
DATA = json.loads((ROOT / "docs" / "exploration.json").read_text())


def write_run(folder, seed, rows, method="sp-trpo", iterations=3):
    """The files of a run on the Maze, as far as the picture reads them."""
    run = {"method_name": method, "method": settings.to_json(METHODS[method]), "changes": []}
    run |= {"env": "mppo/Maze-v0", "env_kwargs": {}, "seed": seed, "steps": 15_000}
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(run | {"iterations": iterations}))
    text = "".join(json.dumps({"picked": i, "style": style}) + "\n" for i, style in rows)
    (folder / "metrics.jsonl").write_text(text)


def test_a_path_drawn_anew_counts_for_the_style_it_had_when_it_was_rolled_out(tmp_path):
    first, later = [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 4, 4, 5, 6, 7]
    write_run(tmp_path / "a", 3, [(0, first), (3, later), (3, later)])
    assert MADE["styles_of"](tmp_path / "a") == ["curious", "apart", "persistent"]


def test_the_finished_run_of_the_smallest_seed_is_taken(tmp_path):
    same = list(range(8))
    write_run(tmp_path / "a", 2, [(0, same), (0, same), (6, same)])
    write_run(tmp_path / "b", 1, [(0, same), (0, same), (1, same)])
    write_run(tmp_path / "c", 0, [(0, same), (0, same)])  # not finished
    write_run(tmp_path / "d", 0, [(0, same)] * 3, method="mp-trpo")
    found = {"seed": 1, "steps": 15_000, "picked": [["curious", 2], ["turning", 1]]}
    assert MADE["collected"](tmp_path) == {"mppo/Maze-v0": found}


def test_shares_are_of_stretches_and_sum_to_one():
    parts = MADE["shares"]([["curious", 8], ["apart", 6], ["turning", 1]])
    assert parts == {
        "curious": [0.8, 0.0],
        "apart": [0.2, 0.8],
        "persistent": [0.0, 0.0],
        "turning": [0.0, 0.2],
    }
    for one in DATA.values():
        assert {name for name, _ in one["picked"]} <= set(MADE["LABELS"])
        assert sum(times for _, times in one["picked"]) * 5000 == one["steps"]


def test_the_same_data_give_the_same_picture(tmp_path):
    one, two = (MADE["draw"](DATA, tmp_path / name).read_bytes() for name in ("1.svg", "2.svg"))
    assert one == two
    assert len(one) > 10_000
