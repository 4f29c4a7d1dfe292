"""The picture of the house is that of the code."""

import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = runpy.run_path(str(ROOT / "docs" / "architecture.py"))


def test_the_picture_is_up_to_date():
    command = [sys.executable, str(ROOT / "docs" / "architecture.py"), "--check"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr


def test_every_room_is_a_row_and_few_things_are_no_rooms():
    rooms = [room for row in MADE["layers"]() for room in row]
    there = {p.name for p in (ROOT / "src" / "mppo").iterdir() if p.name != "__pycache__"}
    folders = {name for name in there if (ROOT / "src" / "mppo" / name).is_dir()}
    assert folders <= set(rooms)
    assert len(there - folders) <= 8
    assert len(MADE["layers"]()) <= 14


def test_what_flows_goes_between_rooms_that_exist():
    rooms = {room for row in MADE["layers"]() for room in row}
    for start, end, _, _ in MADE["FLOWS"]:
        assert {start, end} <= rooms


def test_the_glossary_is_one_page():
    assert len((ROOT / "docs" / "glossary.md").read_text().splitlines()) <= 60
