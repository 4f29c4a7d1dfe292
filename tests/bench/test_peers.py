"""Peers that are not installed, and what they are started with.

Of `peer_script` only its list can be tested here: it runs where the peers are, and not mppo.
"""

import sys

import pytest

from mppo.bench import peers
from mppo.bench.measure import Skipped
from mppo.bench.session import Session


def test_peers_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(peers.importlib.util, "find_spec", lambda name: None)
    session = Session(1, True, [0], tmp_path)
    with pytest.raises(Skipped, match=r"pip install mppo\[peers\]"):
        peers.peers(session)


def test_peers_get_their_own_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # as mppo sets it for itself
    monkeypatch.setenv("KEPT", "1")
    seen = {}

    def look(command, environment, label):
        seen.update(environment)

    monkeypatch.setattr(peers, "MeasuredProcess", look)
    peers.call(sys.executable, ["--list"], {})
    assert "OMP_NUM_THREADS" not in seen
    assert seen["KEPT"] == "1"


def test_the_peer_script_says_what_is_installed():
    known = peers.call(sys.executable, ["--list"], {}).result()
    assert list(known["peers"])[:3] == list(peers.TARGETS)
    assert known["libraries"]["numpy"]
