"""The archive of a grid: standard gzip and JSON lines, the same bytes, and damage is named."""

import gzip
import json
import subprocess
import sys

import pytest

from mppo.errors import CheckpointError
from mppo.files import archive
from mppo.files.archive import FILE, Archive

RUNS = {
    "b": {"run": {"seed": 1}, "final": {}, "metrics": [{"steps": 5, "kl": 0.1}]},
    "a": {"run": {"seed": 0}, "final": {"state_sha256": "00"}, "evaluations": []},
}
WHOLE = Archive({"r": {"label": "figure-2", "runs": {}}}, RUNS, {"c": {"message": "killed"}})


def test_what_is_written_is_read_and_the_same_content_is_the_same_bytes(tmp_path):
    (tmp_path / "other").mkdir()
    size = archive.write(tmp_path, WHOLE)
    assert archive.read(tmp_path) == WHOLE
    turned = Archive(WHOLE.requests, dict(reversed(RUNS.items())), WHOLE.failures)
    assert archive.write(tmp_path / "other", turned) == size
    content = (tmp_path / FILE).read_bytes()
    assert (tmp_path / "other" / FILE).read_bytes() == content
    assert content[4:8] == bytes(4)  # no time in the header
    assert b"runs.jsonl" not in content  # nor a name


def test_others_read_it_with_gzip_and_json_alone(tmp_path):
    archive.write(tmp_path, WHOLE)
    program = (
        "import gzip, json, sys; "
        "print([json.loads(line)['id'] for line in gzip.open(sys.argv[1], 'rt')])"
    )
    said = subprocess.check_output([sys.executable, "-c", program, tmp_path / FILE], text=True)
    assert said.strip() == "['r', 'a', 'b', 'c']"


def test_a_new_run_leaves_the_bytes_of_all_others_as_they_are(tmp_path):
    members = []
    for name in RUNS:
        archive.write(tmp_path, Archive({}, {name: RUNS[name]}, {}))
        members.append((tmp_path / FILE).read_bytes())
    archive.write(tmp_path, WHOLE)
    assert all(member in (tmp_path / FILE).read_bytes() for member in members)
    archive.write(tmp_path, WHOLE._replace(runs={**RUNS, "ab": {"run": {}}}))
    assert all(member in (tmp_path / FILE).read_bytes() for member in members)
    assert sorted(archive.read(tmp_path).runs) == ["a", "ab", "b"]


def test_no_file_is_an_empty_archive(tmp_path):
    assert archive.read(tmp_path) == Archive({}, {}, {})


def test_a_changed_file_is_read_again(tmp_path):
    archive.write(tmp_path, WHOLE)
    assert len(archive.read(tmp_path).runs) == 2
    archive.write(tmp_path, WHOLE._replace(runs={}))
    assert not archive.read(tmp_path).runs


def _line(**changes):
    return json.dumps({"kind": "run", "id": "a", "run": {}} | changes)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["{"], "line 1"),
        (["[]"], "line 1"),
        (['{"kind": "run", "id": "a"}'], "line 1: no field 'run'"),
        ([_line(kind="thing")], "kind is 'thing'"),
        ([_line(id="../../etc/passwd")], "names nothing in a folder"),
        ([_line(id="..")], "names nothing in a folder"),
        ([_line(), _line()], 'line 2: the run "a" stands twice'),
        ([_line(evaluations={})], '"evaluations" is no part of a run, or not of its type'),
        ([_line(weights=[])], '"weights" is no part of a run'),
        (['{"kind": "run", "id": "a", "run": {"seed": NaN}}'], "NaN is not JSON"),
    ],
)
def test_what_is_no_archive_is_named_with_its_line(lines, says, tmp_path):
    (tmp_path / FILE).write_bytes(gzip.compress("\n".join(lines).encode()))
    with pytest.raises(CheckpointError) as error:
        archive.read(tmp_path)
    assert FILE in str(error.value)
    assert says in str(error.value)


@pytest.mark.parametrize("damage", ["cut", "flipped", "other"])
def test_damaged_bytes_are_named(damage, tmp_path):
    archive.write(tmp_path, WHOLE)
    content = bytearray((tmp_path / FILE).read_bytes())
    if damage == "cut":
        content = content[:-5]
    elif damage == "flipped":
        content[20] ^= 0xFF
    else:
        content = bytearray(b"PK\x03\x04")
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(CheckpointError, match=FILE):
        archive.read(tmp_path)


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST", 1000)
    (tmp_path / FILE).write_bytes(gzip.compress(b" " * 2000))
    with pytest.raises(CheckpointError, match="more than 1000 bytes"):
        archive.read(tmp_path)
