"""`mppo paper table`: what is refused, and that committed pages are what the code writes."""

from pathlib import Path

import pytest

from mppo.errors import BadRequest
from mppo.paper.make import DOCUMENTS, table

ROOT = Path(__file__).parents[2]


def test_unknown_tables_formats_and_places_are_refused(tmp_path):
    with pytest.raises(BadRequest, match='did you mean "table-1"'):
        table("tabel-1", tmp_path)
    with pytest.raises(BadRequest, match="the formats are md, csv, html"):
        table("table-1", tmp_path, "pdf")
    with pytest.raises(BadRequest, match="not a directory"):
        table("table-1", tmp_path / "nowhere")


@pytest.mark.parametrize("identifier", DOCUMENTS)
def test_every_table_can_be_made_of_nothing(identifier, tmp_path):
    assert table(identifier, tmp_path).startswith("# ")


@pytest.mark.parametrize("name", ["figure-2", "table-1", "table-memory-trpo"])
def test_committed_pages_are_made_of_committed_runs(name, monkeypatch):
    monkeypatch.chdir(ROOT)  # pages name the directory as it was given
    page = ROOT / "docs" / "results" / f"{name}.md"
    assert table(name, Path("results/paper")) == page.read_text()
