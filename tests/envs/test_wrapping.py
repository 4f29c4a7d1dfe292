"""Wrappers from the command line."""

import json

from mppo.cli import main

TINY = ["--batch-size", "200", "--network.hidden", "4", "--critic.network.hidden", "4"]
TINY += ["--steps", "400", "--eval-every", "0", "--quiet"]


def shifted(env):
    """One more reward in every step."""
    import gymnasium

    return gymnasium.wrappers.TransformReward(env, lambda reward: reward + 1.0)


def test_wrappers_from_the_command_line(tmp_path, capsys):
    out = tmp_path / "run"
    name = "tests.envs.test_wrapping:shifted"
    words = ["train", "mp-trpo", "mppo/Maze-v0", *TINY, "--out", str(out), "--wrappers", name]
    assert main(words) == 0
    assert json.loads((out / "run.json").read_text())["wrappers"] == [name]
    assert '"advantage_mean":0.0,' not in (out / "metrics.jsonl").read_text()  # it is rewarded
    assert main(["resume", str(out)]) == 2
    assert "--allow-imports" in capsys.readouterr().err
    assert main(["resume", str(out), "--allow-imports"]) == 0
    assert "finished already" in capsys.readouterr().out
    assert main(["evaluate", str(out), "--episodes", "1", "--json"]) == 2
    assert "--allow-imports" in capsys.readouterr().err
    words_of_evaluate = ["evaluate", str(out), "--episodes", "1", "--json", "--allow-imports"]
    assert main(words_of_evaluate) == 0
    returns = json.loads(capsys.readouterr().out)["returns"]
    assert returns[0] >= 200  # one more for each step: it was evaluated inside the wrapper, too
    without = words[:-2]
    assert main(without) == 2
    assert "wrappers differ" in capsys.readouterr().err


def test_a_wrapper_that_is_not_there(tmp_path, capsys):
    words = ["train", "mp-trpo", "mppo/Maze-v0", *TINY, "--out", str(tmp_path / "run")]
    assert main([*words, "--wrappers", "gymnasium.wrappers:Nothing"]) == 2
    assert 'cannot load the wrapper "gymnasium.wrappers:Nothing"' in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
