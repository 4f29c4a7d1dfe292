"""Two hundred hostile values in every field that a user or an environment writes: all are text."""

import json
import re

import pytest

from mppo.report import html
from tests.report.made import described, write
from tests.report.parsed import Parsed
from tests.report.payloads import PAYLOADS

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def hostile(where, value):
    """Two runs beside each other; one says `value` wherever it can."""
    write(where / "plain", described("trpo", 1), paths=1, iterations=4)
    method = described()["method"]
    method["picking"] = {"kind": value, f"field {value}": value, "text": value}
    run = described(
        method_name=value,
        method={**method, f"key {value}": value, "gain": value},
        env=value,
        env_kwargs={f"argument {value}": value},
        seed=value,
        resume=value,
        versions={f"package {value}": value},
        steps=value,
    )
    fault = [{"event": "fault", "message": value}]
    path = write(
        where / re.sub(r"[/\x00]", "_", value.encode("utf-8", "replace").decode())[:50].strip("."),
        run,
        iterations=4,
        final=False,
        events=fault,
        more={f"measure {value}": 0.5},
    )
    row = {"steps": 1000, "path": value, "mean_return": 1.0, "returns": [value]}
    (path / "evaluations.jsonl").write_text(json.dumps(row) + "\n")
    (path / "fault").mkdir()
    name = re.sub(r"[/\x00]", "_", value.encode("utf-8", "replace").decode())[:50]
    (path / "fault" / f"f{name}").write_bytes(b"")
    return html([where], title=f"title {value}")


@pytest.fixture(scope="module")
def benign(tmp_path_factory):
    return Parsed(hostile(tmp_path_factory.mktemp("benign") / "runs", "harmless"))


def test_there_are_two_hundred():
    assert len(PAYLOADS) == len(set(PAYLOADS)) == 200


def test_the_harmless_value_is_shown_everywhere(benign):
    for words in ("title harmless", "key harmless", "argument harmless", "package harmless"):
        assert words in benign.text
    assert "measure harmless" in benign.text
    assert "fault/fharmless" in benign.text


@pytest.mark.parametrize("part", range(10))
def test_nothing_is_injected(tmp_path, benign, part):
    for place, value in enumerate(PAYLOADS[part::10]):
        page = hostile(tmp_path / str(place) / "runs", value)
        page.encode()  # no lone surrogate
        found = Parsed(page)
        assert found.elements == benign.elements, value
        assert found.count("script") == found.count("style") == 1
        for _, name, said in found.attributes:
            assert name != "href" or said.startswith("#") or said == "data:,", value
        assert not HIDDEN.search(page), value
