"""Where compiled programs go, and whose they must be."""

import os
import re
import stat
import warnings

import pytest

from mppo.machine import caching
from mppo.machine.caching import compiled

REFUSED = (
    "compiled programs are not kept: {fault}, and reading them executes them; make it yours alone, "
    'or set MPPO_COMPILATION_CACHE to another folder or to "off"'
)


@pytest.fixture
def chosen(monkeypatch, tmp_path):
    """A folder of the user's, named as the place for compiled programs."""
    folder = tmp_path / "mine"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("MPPO_COMPILATION_CACHE", str(folder))
    return folder


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def refused(fault):
    """A context in which the cache is refused for that reason, in so many words."""
    return pytest.warns(RuntimeWarning, match=f"^{re.escape(REFUSED.format(fault=fault))}$")


def test_the_user_s_cache_or_the_one_he_names_or_none(monkeypatch, tmp_path):
    monkeypatch.delenv("MPPO_COMPILATION_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert compiled("xla") == tmp_path / "home" / "mppo" / "xla"
    monkeypatch.setenv("MPPO_COMPILATION_CACHE", str(tmp_path / "mine"))
    assert compiled("numba") == tmp_path / "mine" / "numba"
    assert os.listdir(tmp_path / "mine") == ["numba"]
    monkeypatch.setenv("MPPO_COMPILATION_CACHE", "off")
    assert compiled("numba") is None


def test_a_place_that_cannot_be_made_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MPPO_COMPILATION_CACHE", str(tmp_path / "file"))
    assert compiled("xla") is None


def test_what_is_made_is_for_the_user_alone_whatever_his_umask(monkeypatch, tmp_path):
    monkeypatch.setenv("MPPO_COMPILATION_CACHE", str(tmp_path / "new" / "place"))
    before = os.umask(0)
    try:
        assert compiled("numba/abc") == tmp_path / "new" / "place" / "numba" / "abc"
    finally:
        os.umask(before)
    for name in ("new", "new/place", "new/place/numba", "new/place/numba/abc"):
        assert mode(tmp_path / name) == 0o700, name


def test_a_folder_that_others_may_only_read_is_closed_and_used(chosen):
    chosen.chmod(0o755)
    (chosen / "xla").mkdir(mode=0o755)
    assert compiled("xla") == chosen / "xla"
    assert mode(chosen / "xla") == 0o700
    assert mode(chosen) == 0o755  # this one may hold other things


@pytest.mark.parametrize("bits", [0o777, 0o775, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused(chosen, bits, monkeypatch):
    """A file put there would be executed; the sticky bit does not keep anybody from adding one."""
    monkeypatch.setattr(caching, "_is_private", lambda group, user: False)
    (chosen / "xla").mkdir()
    (chosen / "xla").chmod(bits)
    with refused(f'others can write to "{chosen / "xla"}"'):
        assert compiled("xla") is None
    assert mode(chosen / "xla") == bits  # and left as it was


def test_a_folder_in_whose_place_others_could_put_theirs_is_refused(chosen):
    chosen.chmod(0o777)
    with refused(f'others can write to "{chosen}"'):
        assert compiled("xla") is None
    chosen.chmod(0o1777)  # as /tmp: others cannot move what is mine
    assert compiled("xla") == chosen / "xla"


def test_a_folder_of_another_user_is_refused(chosen, monkeypatch):
    """In a folder like /tmp, anybody may have made it first."""
    monkeypatch.setattr(os, "geteuid", lambda: chosen.stat().st_uid + 1)
    with refused(f'"{chosen / "xla"}" belongs to another user'):
        assert compiled("xla") is None


def test_the_user_s_own_group_is_no_other(chosen, monkeypatch):
    """Many systems give every user a group of his name and let it write."""
    chosen.chmod(0o775)
    monkeypatch.setattr(caching, "_is_private", lambda group, user: True)
    assert compiled("xla") == chosen / "xla"


@pytest.mark.parametrize(
    ("name", "members", "private"),
    [("ann", [], True), ("ann", ["ann"], True), ("ann", ["bob"], False), ("staff", [], False)],
)
def test_which_group_is_private(monkeypatch, name, members, private):
    import grp
    import pwd

    monkeypatch.setattr(pwd, "getpwuid", lambda user: pwd.struct_passwd(("ann", *"x" * 6)))
    group = grp.struct_group((name, "x", 7, members))
    monkeypatch.setattr(grp, "getgrgid", lambda number: group)
    assert caching._is_private(7, 7) is private


def test_a_link_leads_to_the_folder_that_is_judged_and_used(chosen, tmp_path):
    """Who moves the link afterwards moves nothing."""
    aside = tmp_path / "aside"
    aside.mkdir(mode=0o700)
    (chosen / "xla").symlink_to(aside)
    assert compiled("xla") == aside
    aside.chmod(0o777)
    with refused(f'others can write to "{aside}"'):
        assert compiled("xla") is None


def test_without_owners_nothing_is_refused(chosen, monkeypatch):
    """Windows has no such bits."""
    chosen.chmod(0o777)
    monkeypatch.delattr(os, "geteuid")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled("xla") == chosen / "xla"
