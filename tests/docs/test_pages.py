"""The pages that list things list all of them, and nothing else."""

import json
import re
from pathlib import Path

import pytest

import mppo
from docs_hooks import definitions
from tests.worlds import ENVS, SMALL, STEPS, ledge

DOCS = Path(__file__).parents[2] / "docs"
PAPER = (DOCS / "paper-and-code.md").read_text()
METRICS = (DOCS / "metrics.md").read_text()
FUNCTION = re.compile(r"\[`([\w.]+)`\]\((\.\./[\w/.]+\.py)\)")


def section(page, heading):
    """The text below a heading of the second level."""
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(text):
    """The cells of all rows of all tables but their headings."""
    found = re.findall(r"^\|(.+)\|$", text, re.M)
    cells = [[cell.strip() for cell in row.split("|")] for row in found]
    return [row for n, row in enumerate(cells) if row[0].strip("-") and not heads(cells, n)]


def heads(cells, n):
    """Whether the row after this one is the line of dashes."""
    return n + 1 < len(cells) and not "".join(cells[n + 1]).strip("-")


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda path: path.name)
def test_functions_that_a_page_links_to_exist(page):
    for name, file in FUNCTION.findall(page.read_text()):
        assert name in definitions(page.parent / file), (name, file)


def test_every_line_of_algorithm_1_has_its_code():
    lines = {line: code for line, _, code, _ in rows(section(PAPER, "Algorithm 1"))}
    assert list(lines) == ["input", *map(str, range(1, 13))]
    for line, code in lines.items():
        assert FUNCTION.search(code), line


def test_every_numbered_equation_has_its_code():
    covered = []
    for equation, _, code in rows(section(PAPER, "The equations")):
        ends = [int(number) for number in re.findall(r"\d+", equation)]
        covered += range(ends[0], ends[-1] + 1)
        assert FUNCTION.search(code), equation
    assert covered == list(range(1, 13))


def test_every_method_stands_beside_the_paper_s_name():
    named = re.findall(
        r"`([\w-]+)`", "".join(row[1] for row in rows(section(PAPER, "The methods")))
    )
    assert sorted(named) == sorted(mppo.METHODS)


def fields(text):
    """The fields of all tables, each with a unit and a meaning."""
    found = rows(text)
    assert all(len(row) == 4 and row[1] and row[2] for row in found)
    return [row[0].strip("`") for row in found]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        pytest.param("curiosity-trpo", ("TRPO only", "Curiosity"), id="curiosity-trpo"),
        pytest.param("div-ppo", ("PPO only", "Diversity"), id="div-ppo"),
        pytest.param(
            "sp-trpo", ("TRPO only", "Curiosity", "Styles", "Persistent noise"), id="sp-trpo"
        ),
    ],
)
def test_every_field_of_a_run_is_explained(name, parts, tmp_path):
    steps = 2 * ENVS * STEPS
    mppo.train(SMALL[name], ledge, steps=steps, out=tmp_path, eval_every=steps, eval_episodes=1)
    special = {
        label: fields(table)
        for label, table in re.findall(r"^([\w ]+):\n\n((?:\|.+\n)+)", METRICS, re.M)
    }
    bonuses = {"Curiosity", "Diversity", "Styles", "Persistent noise"}
    assert set(special) == {"TRPO only", "PPO only"} | bonuses
    others = {field for label in special if label not in parts for field in special[label]}
    for file in ("metrics.jsonl", "evaluations.jsonl", "timing.jsonl"):
        explained = set(fields(section(METRICS, file))) - others
        written = [json.loads(line) for line in (tmp_path / file).read_text().splitlines()]
        assert written
        assert all(set(row) == explained for row in written), file
