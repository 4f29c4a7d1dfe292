"""`mppo zoo`, and `mppo train --tuned`."""

import json
from pathlib import Path

import pytest

from mppo.cli.train import parsed
from mppo.experiments.zoo import chosen, run_of
from mppo.files import tuned
from tests.cli.test_cli import run


def test_flags_stand_above_tuned_settings():
    options, method, _ = parsed(["ppo", "CartPole-v1", "--tuned", "--gamma=0.5", "--seed", "3"])
    assert (options.steps, options.seed, options.tuned) == (100_000, 3, True)
    entry = tuned.find("ppo", "CartPole-v1").settings
    assert (method.gae_lambda, method.batch_size) == (entry["gae_lambda"], entry["batch_size"])
    assert method.gamma == 0.5 != entry["gamma"]
    assert parsed(["ppo", "CartPole-v1", "--steps=900", "--tuned"])[0].steps == 900


def test_arguments_and_wrappers_of_the_environment():
    words = ["ppo", "LunarLander-v3", "--tuned", "--env.continuous", "True"]
    options, method, arguments = parsed(words)
    assert (arguments, method.batch_size) == ({"continuous": True}, 16_384)
    options, _, _ = parsed(["sp-trpo", "minigrid:MiniGrid-DoorKey-5x5-v0", "--tuned"])
    assert options.wrappers == ["minigrid.wrappers:ImgObsWrapper"]


def test_a_swap_by_a_flag_takes_nothing_from_the_entry():
    entry = tuned.find("ppo", "CartPole-v1").settings
    _, method, _ = parsed(["ppo", "CartPole-v1", "--tuned", "--optimiser", "trpo"])
    assert type(method.optimiser).__name__ == "Trpo"
    assert (method.optimiser.max_kl, method.batch_size) == (0.01, entry["batch_size"])
    _, method, _ = parsed(["ppo", "CartPole-v1", "--tuned", "--optimiser=ppo"])
    assert method.optimiser.max_gradient_norm == entry["optimiser.max_gradient_norm"] == 0.5


def test_fast_stands_above_tuned_settings_and_files_and_below_flags(tmp_path):
    _, method, _ = parsed(
        ["trpo", "Walker2d-v5", "--fast", "--tuned", "--optimiser.cg_iterations=7"]
    )
    assert (method.optimiser.fisher_stride, method.optimiser.cg_iterations) == (5, 7)
    assert method.critic.epochs == 12  # three of five passes, of the entry's 20
    assert method.batch_size == tuned.find("trpo", "Walker2d-v5").settings["batch_size"]
    file = tmp_path / "run.toml"
    file.write_text(
        'config = 1\nmethod = "mp-trpo"\nenv = "Hopper-v5"\n[optimiser]\n'
        "fisher_stride = 2\ndamping = 0.2\n"
    )
    _, method, _ = parsed([f"--config={file}", "--fast", "--optimiser.max-kl=0.02"])
    trpo = method.optimiser
    assert (trpo.fisher_stride, trpo.cg_iterations, trpo.damping, trpo.max_kl) == (5, 10, 0.2, 0.02)
    _, method, _ = parsed(["ppo", "Hopper-v5", "--fast", "--optimiser", "trpo"])
    assert method.optimiser.fisher_stride == 5


def test_fast_is_refused_where_it_does_nothing(capsys):
    assert run("train", "ppo", "Hopper-v5", "--fast") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert 'fast settings are of the optimiser "trpo", and that of this method is "ppo"' in line


def test_a_printed_config_holds_the_tuned_settings(capsys, tmp_path):
    assert run("train", "trpo", "Pendulum-v1", "--tuned", "--print-config") == 0
    (tmp_path / "run.toml").write_text(capsys.readouterr().out)
    there = parsed([f"--config={tmp_path / 'run.toml'}"])
    here = parsed(["trpo", "Pendulum-v1", "--tuned"])
    assert there[1:] == here[1:]
    assert there[0].steps == here[0].steps == 100_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("train mp-ppo CartPole-v1 --tuned", "there are some of ppo, trpo"),
        ("train ppo Cartpole-v1 --tuned", 'did you mean "CartPole-v1"?'),
        ("train ppo --tuned", "--tuned needs METHOD and ENV"),
        ("train ppo CartPole-v1 --tuned --config x.toml", "leave out one of them"),
        ("zoo lst", 'JOB is "lst"; it must be one of list, run, update, page'),
        ("zoo update", "takes a DIR"),
        ("zoo run", "--out is missing"),
        ("zoo --only CartPole", 'did you mean "CartPole-v1"?'),
        ("zoo run --only ppo --seeds 0 --out x", "--seeds is 0; it must be at least 1"),
    ],
)
def test_what_cannot_be_met_is_one_line(words, said, capsys):
    assert run(*words.split()) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out


def test_the_list_names_steps_returns_and_command(capsys, monkeypatch):
    entry = tuned.find("ppo", "CartPole-v1")
    measured = entry._replace(
        returns=(400.0, 500.0), deterministic=(500.0, 500.0), seconds=12.0, source="a book"
    )
    plain = tuned.find("trpo", "Swimmer-v5")._replace(returns=(), deterministic=(), seconds=0.0)
    monkeypatch.setattr(tuned, "entries", lambda: (measured, plain))
    assert run("zoo") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "CartPole-v1"
    assert "100,000 steps, 12 s: 450.0 (2 seeds, 400.0 ... 500.0)" in lines[1]
    assert "RL Baselines3 Zoo, CartPole-v1: 500.0 (100,000 steps, 1 run)" in lines[3]
    assert "CleanRL, CartPole-v1: 490.0 (500,000 steps, 3 seeds)" in lines[4]
    assert "settings: a book" in lines[5]
    assert "mppo train ppo CartPole-v1 --tuned" in lines[6]
    assert "1,000,000 steps: not measured yet" in lines[8]
    assert max(map(len, lines)) <= 80
    assert run("zoo", "--json", "--only", "trpo") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["env"], row["returns"]) == ("Swimmer-v5", [])
    assert [one["mean"] for one in row["published"]] == [365.663, 359.0]
    assert run("zoo", "--settings", "--only", "trpo") == 0
    assert "gamma=0.9999" in capsys.readouterr().out


def test_entries_are_chosen_by_method_environment_or_both():
    names = lambda *only: [(one.method, one.id) for one in chosen(tuned.entries(), only)]
    assert names("ppo/CartPole-v1") == [("ppo", "CartPole-v1")]
    assert len(names("LunarLander-v3")) == 4
    assert len(names("sp-trpo", "ppo/CartPole-v1")) == 4
    assert len(names()) == len(tuned.entries())
    grid = names("trpo/MiniGrid-DoorKey-5x5-v0")
    assert names("trpo/minigrid:MiniGrid-DoorKey-5x5-v0") == grid == [("trpo", grid[0][1])]


def test_a_run_of_an_entry_is_the_run_of_its_command():
    entry = tuned.find("trpo", "minigrid:MiniGrid-DoorKey-5x5-v0")
    words = run_of(entry, 1, lambda one: one.env).arguments()
    options, method, arguments = parsed(words[1:])
    there = parsed([*entry.command.split()[2:], "--seed=1"])
    assert (options.steps, options.seed, options.wrappers) == (1_000_000, 1, there[0].wrappers)
    assert (method, arguments) == there[1:]
    assert (options.eval_every, options.eval_episodes) == (50_000, 20)


def test_returns_are_measured_and_written(tmp_path, capsys, monkeypatch):
    """A whole round: run two seeds, write their returns, run again without work."""
    small = {"batch_size": 200, "envs": 2, "network.hidden": [4], "critic.network.hidden": [4]}
    bare = {"returns": (), "deterministic": (), "seconds": 0.0, "measured": ""}
    entry = tuned.find("trpo", "CartPole-v1")._replace(steps=400, settings=small, **bare)
    other = tuned.find("ppo", "CartPole-v1")
    monkeypatch.setattr(tuned, "FILE", tmp_path / "tuned.toml")
    tuned.FILE.write_text(tuned.written([entry, other]))
    monkeypatch.setattr(tuned, "entries", tuned.lru_cache(lambda: tuple(tuned.read(tuned.FILE))))
    words = ["zoo", "run", "--only", "trpo", "--seeds", "2", "--jobs", "1"]
    assert run(*words, "--out", str(tmp_path / "grid")) == 0
    assert "; in the list: not measured yet\n" in capsys.readouterr().out
    assert run("zoo", "update", str(tmp_path / "grid"), "--print") == 0
    assert tuned.read(tuned.FILE)[0].returns == ()
    assert run("zoo", "update", str(tmp_path / "grid")) == 0
    assert "1 entries written" in capsys.readouterr().out
    found, still = tuned.read(tuned.FILE)
    assert still == other
    assert len(found.returns) == len(found.deterministic) == 2
    assert all(8 < score < 500 for score in found.returns)
    assert found.seconds > 0
    assert found._replace(**bare) == entry
    assert run("zoo", "update", str(tmp_path / "grid")) == 0
    assert run(*words, "--out", str(tmp_path / "grid")) == 0
    again = capsys.readouterr().out
    assert "all 2 runs are done" in again
    assert "(2 seeds, " in again
    assert "; as in the list\n" in again
    found = found._replace(returns=(found.returns[0], 900.0))
    tuned.FILE.write_text(tuned.written([found, other]))
    tuned.entries.cache_clear()
    assert run(*words, "--out", str(tmp_path / "grid")) == 0
    assert "... 900.0" in capsys.readouterr().out.split("; in the list: ")[1]


def test_the_page_of_the_site_is_what_the_command_writes(tmp_path):
    """After `mppo zoo update`, write it anew: mppo zoo page --out docs/results/zoo.md."""
    assert run("zoo", "page", "--out", str(tmp_path / "zoo.md")) == 0
    there = Path(__file__).parents[2] / "docs" / "results" / "zoo.md"
    assert there.read_text() == (tmp_path / "zoo.md").read_text()
