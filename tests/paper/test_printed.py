"""The paper's tables as data: every number is in the paper's source, where that is at hand."""

import re
from pathlib import Path

import pytest

from mppo.algorithm.methods import METHODS
from mppo.bench.memory import PRINTED_MEMORY
from mppo.paper.cells import ENV_ID
from mppo.paper.printed import CLAIMS, MEMORY, STATED_GROWTH, TABLES, Value
from mppo.report.style import DISPLAY

SOURCES = [Path(__file__).parents[i] / "shared" / "paper.tex" for i in (2, 3, 4)]
SOURCE = next((path for path in SOURCES if path.exists()), None)
needs_source = pytest.mark.skipif(SOURCE is None, reason="the paper's source is not here")


def tabular(label):
    """The lines of the table with a label, without its commands."""
    assert SOURCE is not None
    text = SOURCE.read_text()
    tables = re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", text, re.S)
    (table,) = [found for found in tables if f"\\label{{{label}}}" in found]
    body = table.split("\\midrule")[1].split("\\bottomrule")[0]
    return [line.strip() for line in body.split("\\\\") if line.strip()]


@needs_source
@pytest.mark.parametrize("identifier", TABLES)
def test_returns_are_those_of_the_paper(identifier):
    printed = TABLES[identifier]
    lines = tabular(printed.label)
    assert len(lines) == len(printed.rows) == 8
    for line, (task, values) in zip(lines, printed.rows.items(), strict=True):
        name, *cells = line.split("&")
        assert name.split()[-1] == task
        assert len(cells) == len(values) == len(printed.methods)
        for cell, value in zip(cells, values, strict=True):
            numbers = [float(n) for n in re.findall(r"-?\d+\.\d+", cell)]
            assert numbers == ([value.mean, value.bracket] if len(numbers) > 1 else [value.mean])


@needs_source
@pytest.mark.parametrize("identifier", MEMORY)
def test_memory_is_that_of_the_paper(identifier):
    lines = tabular(f"tab:mem_mp{MEMORY[identifier]}")
    assert len(lines) == 5
    for line, (k, row) in zip(lines, PRINTED_MEMORY[MEMORY[identifier]].items(), strict=True):
        name, gpu, resident = line.split("&")
        paths = re.search(r"K=(\d+)", name)
        assert (int(paths[1]) if paths else 1) == k
        assert tuple(int(cell.split()[0]) for cell in (resident, gpu)) == row


@needs_source
def test_words_of_claims_are_the_paper_s():
    assert SOURCE is not None
    text = re.sub(r"\s+", " ", re.sub(r"[{}]|\\[a-z]+ ?", "", SOURCE.read_text()))
    for claims in CLAIMS.values():
        for claim in claims:
            # "MP-TRPO (ReplaceWorst)" stands as "Thus, MP-TRPO (ReplaceWorst) performs worse ..."
            assert claim.words.lower() in text.lower(), claim.words
    for growth in ("1.67%", "4.78%"):
        assert growth in text.replace("\\", "")
    assert "after 0.6 million steps" in text


def test_methods_and_tasks_are_ours():
    for printed in TABLES.values():
        assert set(printed.methods) <= set(METHODS) & set(DISPLAY)
        assert set(printed.rows) <= set(ENV_ID)
        for claim in CLAIMS[printed.identifier]:
            assert {claim.better, *claim.worse} <= set(printed.methods)


def test_stated_growth_is_that_of_the_gpu_column():
    for base, (paths, percent) in STATED_GROWTH.items():
        gpu = {k: gpu for k, (_, gpu) in PRINTED_MEMORY[base].items()}
        assert round(100 * (gpu[paths] / gpu[1] - 1), 2) == percent


def test_the_deviation_behind_a_bracket():
    # 5 of 6 successes: s = 0.408; the printed 0.12 is rounded
    assert Value(0.83, 0.12).moments.deviation == pytest.approx(0.408, abs=0.02)
    assert Value(1.00, 0.00).rounding == pytest.approx(0.005)
