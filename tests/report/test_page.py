"""What stands on the page: numbers, marks and messages."""

import base64
import hashlib
import re

import pytest

from mppo import train
from mppo.algorithm.styles import style
from mppo.cli import main
from mppo.files import settings
from mppo.report import html
from mppo.report.paths import explorers
from mppo.report.read import read
from tests.report.made import described, write
from tests.report.parsed import Parsed
from tests.runs import SMALL as RESUMED


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """A single run with three paths and visits."""
    return html([write(tmp_path_factory.mktemp("one") / "run", visits=True)])


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Two methods with three seeds each, and one that failed."""
    top = tmp_path_factory.mktemp("many")
    for seed in range(3):
        write(top / f"mp-{seed}", described("mp-trpo", seed))
        write(top / f"trpo-{seed}", described("trpo", seed), paths=1)
    failed = [{"event": "fault", "message": "observation = [nan]; environment 3"}]
    broken = write(top / "broken", described("ppo", 9), final=False, iterations=5, events=failed)
    (broken / "fault").mkdir()
    (broken / "fault" / "batch.safetensors").write_bytes(b"x")
    return html([top], title="Six and one")


def curve_of(page, title, place=0):
    """The values of a mean curve, read back from its path and the scales beside it."""
    figure = next(
        part
        for part in re.findall(r"<figure.*?</figure>", page, re.S)
        if f"<h3>{title}</h3>" in part
    )
    plot = re.search(r'<svg class="plot"[^>]*>', figure).group()
    named = dict(re.findall(r'([\w-]+)="([^"]*)"', plot))
    x1, y0, y1 = (float(named[f"data-{name}"]) for name in ("x1", "y0", "y1"))
    path = re.findall(r'<path class="mean" d="([^"]*)"', figure.split('class="plot"')[1])[place]
    points = [tuple(map(float, pair.split())) for pair in re.split("[ML]", path)[1:]]
    width, height = float(named["width"]), float(named["height"])
    return [(x / width * x1, y1 - y / height * (y1 - y0)) for x, y in points]


def test_the_curve_is_drawn_where_its_numbers_lie(one):
    drawn = curve_of(one, "Return")
    assert len(drawn) == 10
    for place, (steps, value) in enumerate(drawn, start=1):
        assert steps == pytest.approx(2000 * place, abs=5)
        assert value == pytest.approx(place, abs=0.01)  # evaluation n of seed 0 returned n


def test_the_mean_of_three_seeds_is_the_bold_curve(many):
    drawn = curve_of(many, "Return", place=1)  # trpo, mp-trpo, ppo
    assert drawn[0][1] == pytest.approx(2.0, abs=0.02)  # 1, 2, 3
    assert drawn[-1][1] == pytest.approx(11.0, abs=0.02)


def test_every_seed_and_its_interval_is_there(many):
    hero = many.split("</figure>")[0]
    assert hero.count('class="seed"') == 6
    assert hero.count('class="band"') == 2
    # returns at the end are 10, 11, 12: mean 11, and 4.303 / sqrt(3) = 2.48 to either side
    assert "<b>11 <small>± 2.5</small></b>" in many
    assert "3 runs: 10 11 12" in many


def test_j_and_h_of_each_path(one):
    j = curve_of(one, "J of each path", place=2)
    assert j[0] == pytest.approx((1000, 2.0), abs=0.01 * 1000)
    assert j[-1][1] == pytest.approx(2.19, abs=0.01)
    h = curve_of(one, "H of each path", place=0)
    assert h[-1][1] == pytest.approx(1.0 - 19 / 50, abs=0.02)


def test_the_course_of_picking(one):
    strip = re.search(r'<figure class="chart strip">.*?</figure>', one, re.S).group()
    assert "20 picks, 19 changes of path" in strip
    assert "path 0 7 times, path 1 7 times, path 2 6 times" in strip
    assert strip.count('class="lane"') == 3
    cells = re.findall(r'class="pick p4" d="([^"]*)"', strip)
    assert [data.count("M") for data in cells] == [7, 7, 6]


def test_the_map_of_visits_of_each_path(one):
    parsed = Parsed(one)
    assert parsed.classes["one-map"] == 4  # all together, and three paths
    assert "2 of 8 cells" in parsed.text
    assert parsed.classes["walls"] == 4


def test_updates_time_and_configuration(one):
    text = Parsed(one).text
    for title in (
        *("Entropy", "KL divergence", "Steps tried by the line search", "Episode length"),
        *("Loss of the value network", "Explained variance", "Return of the training batches"),
    ):
        assert f"<h3>{title}</h3>" in one
    assert "max_kl 0.01" in text
    assert "The vertical axis is logarithmic" in text
    assert "20 s" in text  # 5 iterations of 4 seconds
    assert "5.0 s 25 %" in text
    assert "10 s 50 %" in text
    assert "mppo train mp-trpo mppo/Maze-v0 --steps 20000 --seed 0" in text
    assert "optimiser.cg_iterations 20" in text
    assert "numpy 2.4.6" in text


def test_differences_come_first_and_failures_before_all(many):
    text = Parsed(many).text
    assert text.index("observation = [nan]; environment 3") < text.index(
        "Mean return of the evaluation"
    )
    assert "fault/batch.safetensors" in text
    assert "1 run; 1 not at the end" in text
    differ = many.index("<h3>What differs</h3>")
    assert differ < many.index("What all runs share")
    assert "<code>ppo</code>" in many[differ:]
    assert "<title>Six and one</title>" in many
    assert Parsed(many).classes["badge"] >= 9


def test_numbers_of_a_component_of_one_s_own_get_a_chart(tmp_path):
    page = html([write(tmp_path / "a", more={"trust_radius": 0.25})])
    assert "<h3>trust radius</h3>" in page
    assert curve_of(page, "trust radius")[0][1] == pytest.approx(0.25, abs=1e-3)


def test_the_policy_allows_the_page_s_own_style_and_script_alone(one):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', one).group(1)
    for name in ("style", "script"):
        (content,) = re.findall(f"<{name}>(.*?)</{name}>", one, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert policy.endswith("img-src data:; base-uri 'none'; form-action 'none'")
    for word in ("http:", "https:", "//", "@import", "url(", "unsafe"):
        assert word not in one, word
    for tag, name, value in Parsed(one).attributes:
        assert name != "style", tag
        assert not name.startswith("on"), tag
        assert name != "href" or value.startswith("#") or value == "data:,"


def test_the_same_runs_give_the_same_bytes(tmp_path):
    first, second = tmp_path / "a" / "runs", tmp_path / "b" / "runs"
    for top in (first, second):
        for seed in (1, 0):
            write(top / f"r{seed}", described("mp-trpo", seed), visits=True)
    assert html([first]) == html([second])


def test_no_environment_variable_reaches_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_TOKEN", "s3cret-token")
    assert "s3cret" not in html([write(tmp_path / "a")])


def test_a_hundred_runs_stay_small(tmp_path):
    for place in range(100):
        name = ("mp-trpo", "trpo", "multi-trpo", "ppo")[place % 4]
        write(tmp_path / f"{place:03}", described(name, place), paths=8, iterations=120)
    page = html([tmp_path])
    assert len(page.encode()) < 5e6
    assert Parsed(page).classes["strip"] == 100


def test_the_command_writes_the_page_and_refuses_in_one_line(tmp_path, capsys):
    write(tmp_path / "runs" / "a")
    out = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "runs"), "--out", str(out), "--title", "Mine"]) == 0
    assert "<h1>Mine</h1>" in out.read_text()
    assert capsys.readouterr().out.startswith(f"{out}: ")
    for words, said in (
        ([str(tmp_path / "none")], "is not a directory"),
        ([str(tmp_path / "runs"), "--out", str(tmp_path)], "give a file name"),
        ([str(tmp_path / "runs"), "--out", str(tmp_path / "no" / "x.html")], "give a file name"),
    ):
        assert main(["report", *words]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1


def test_a_real_run_has_all_that_a_report_looks_for(tmp_path):
    train(
        "mp-trpo",
        "mppo/Maze-v0",
        steps=600,
        out=tmp_path / "real",
        eval_every=400,
        eval_episodes=2,
        overrides=RESUMED,  # compiled for the tests of resuming already
    )
    text = Parsed(html([tmp_path / "real"])).text
    for words in (
        *("finished", "The course of picking", "J of each path", "H of each path", "KL divergence"),
        *("Where the paths went", "Loss of the value network", "Steps tried by the line search"),
        *("simulation", "learning", "evaluation", "Explained variance"),
    ):
        assert words in text
    assert "3 picks" in text


def test_a_method_with_styles_shows_what_each_path_found(tmp_path):
    styles = [settings.to_json(style(name)) for name in ("apart:sigma=0.5", "curious")]
    run = described("mp-trpo")
    run["method"] = {**run["method"], "styles": styles}
    written = read(write(tmp_path / "run", run, paths=3, more={"style": [1, 0, 9]}), "run")
    found = list(explorers(written))
    assert [one["style"] for one in found] == ["curious", "apart:sigma=0.5", "?"]
    for one in found:
        mine = [row["return_mean"] for row in written.metrics if row["picked"] == one["path"]]
        assert one["picks"] == len(mine)
        assert one["best"] == (max(mine) if mine else pytest.approx(float("nan"), nan_ok=True))
        assert one["performance"] == written.metrics[-1]["performance"][one["path"]]
    assert "apart:sigma=0.5" in html([tmp_path / "run"])
