"""Where compiled programs go."""

import os

from mppo.caching import compiled


def test_the_user_s_cache_or_the_one_he_names_or_none(monkeypatch, tmp_path):
    monkeypatch.delenv("MPPO_COMPILATION_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert compiled("xla") == tmp_path / "home" / "mppo" / "xla"
    assert (tmp_path / "home" / "mppo" / "xla").stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("MPPO_COMPILATION_CACHE", str(tmp_path / "mine"))
    assert compiled("numba") == tmp_path / "mine" / "numba"
    assert os.listdir(tmp_path / "mine") == ["numba"]
    monkeypatch.setenv("MPPO_COMPILATION_CACHE", "off")
    assert compiled("numba") is None


def test_a_place_that_cannot_be_made_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MPPO_COMPILATION_CACHE", str(tmp_path / "file"))
    assert compiled("xla") is None
