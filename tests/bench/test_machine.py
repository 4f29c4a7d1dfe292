"""What is said of the machine."""

import json

from mppo.bench import machine


def test_the_machine_without_names_or_paths():
    described = json.dumps(machine.description())
    assert "/" not in described.replace("n/a", "").replace(machine._processor(), "")
    assert machine.description()["cores"] >= 1
