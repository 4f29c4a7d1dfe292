"""What other tools are told is what metrics.jsonl says: once each, without a gap."""

import csv
import json
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

import mppo
from mppo import loggers
from mppo.cli import main
from mppo.errors import BadRequest
from mppo.files.reader import history, rows
from mppo.loggers import Scalars, TensorBoard, Trackio, WandB, send, write_csv
from mppo.loggers.records import records
from tests.worlds import ENVS, SMALL, STEPS, ledge

BATCH = ENVS * STEPS


def train(out=None, iterations=4, **settings):
    usual = {"seed": 3, "eval_every": 2 * BATCH, "eval_episodes": 2, "workers": 1}
    return mppo.train(
        SMALL["mp-trpo"], ledge, steps=iterations * BATCH, out=out, **(usual | settings)
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "one"
    train(out)
    return out


def wanted(out):
    """All numbers of a run by name: lists of (steps, value)."""
    scalars, found = Scalars(), {}
    for record in records(history(out)):
        for name, value in scalars(*record).items():
            found.setdefault(name, []).append((record.row["steps"], value))
    return found


def test_names_and_numbers(run):
    """Those of Stable-Baselines3 and sb3-contrib, with its signs."""
    metrics, evaluations = rows(run, "metrics.jsonl"), rows(run, "evaluations.jsonl")
    timing = rows(run, "timing.jsonl")
    found = wanted(run)
    column = lambda name: [value for _, value in found[name]]
    steps = [BATCH * n for n in range(1, 5)]
    assert column("time/total_timesteps") == steps
    assert [at for at, _ in found["rollout/ep_rew_mean"]] == steps
    assert column("time/iterations") == [1, 2, 3, 4]
    assert column("rollout/ep_rew_mean") == [row["return_mean"] for row in metrics]
    assert column("rollout/ep_len_mean") == [row["length_mean"] for row in metrics]
    assert column("train/kl_divergence_loss") == [row["kl"] for row in metrics]
    assert column("train/approx_kl") == [row["kl"] for row in metrics]
    assert column("train/policy_objective") == [row["surrogate_gain"] for row in metrics]
    assert column("train/is_line_search_success") == [
        float(row["line_search_success"]) for row in metrics
    ]
    assert column("train/entropy_loss") == [-row["entropy"][row["picked"]] for row in metrics]
    for name in ("value_loss", "explained_variance", "gain", "gradient_norm", "cg_residual"):
        assert column(f"train/{name}") == [row[name] for row in metrics]
    assert column("paths/picked") == [row["picked"] for row in metrics]
    assert column("paths/performance_1") == [row["performance"][1] for row in metrics]
    assert column("paths/picks_0")[-1] == metrics[-1]["picks"][0]
    assert found["eval/mean_reward"] == [(row["steps"], row["mean_return"]) for row in evaluations]
    seconds = [row["simulation"] + row["learning"] for row in timing]
    assert column("time/fps") == pytest.approx([BATCH / s for s in seconds])
    total = sum(seconds) + sum(row["evaluation"] for row in timing)
    assert column("time/time_elapsed")[-1] == pytest.approx(total)
    assert found["train/theorem_slack"][0][0] == 3 * BATCH  # null before all paths are known


def test_ppo_has_its_own_names():
    row = {"iteration": 0, "steps": 64, "picked": 0, "kl": 0.01, "clip_fraction": 0.25}
    row |= {"performance": [1.0], "entropy": [0.5], "picks": [1], "slot": 0, "value_loss": 2.0}
    found = Scalars()(row, None, None)
    assert (found["train/clip_fraction"], found["train/approx_kl"]) == (0.25, 0.01)
    assert "train/kl_divergence_loss" not in found
    assert not any(name.startswith(("time/fps", "eval/", "rollout/")) for name in found)


def test_csv_has_every_number(run, tmp_path, capsys):
    assert main(["logs", str(run), "--csv", str(tmp_path / "run.csv")]) == 0
    assert "4 rows" in capsys.readouterr().out
    with (tmp_path / "run.csv").open() as file:
        table = list(csv.DictReader(file))
    assert next(iter(table[0])) == "time/total_timesteps"
    for name, values in wanted(run).items():
        found = [(int(float(line["time/total_timesteps"])), line[name]) for line in table]
        assert [(at, float(value)) for at, value in found if value] == values, name


def read_back(folder):
    """What TensorBoard itself shows: (steps, value) of every name."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return {
        name: [(event.step, event.value) for event in events.Scalars(name)]
        for name in events.Tags()["scalars"]
    }


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert [at for at, _ in found[name]] == [at for at, _ in values], name
        got = [value for _, value in found[name]]
        assert got == pytest.approx([value for _, value in values], rel=1e-6, abs=1e-30), name


def test_tensorboard_reads_back_what_was_written(tmp_path):
    train(tmp_path / "run", loggers=[TensorBoard()])
    same(read_back(tmp_path / "run" / "tensorboard"), wanted(tmp_path / "run"))


def test_converted_afterwards_it_is_the_same(run, tmp_path):
    assert main(["logs", str(run), "--tensorboard", str(tmp_path / "tb"), "--quiet"]) == 0
    same(read_back(tmp_path / "tb"), wanted(run))
    assert main(["logs", str(run), "--tensorboard", str(tmp_path / "tb"), "--quiet"]) == 0
    same(read_back(tmp_path / "tb"), wanted(run))  # sent again: nothing twice


def test_curves_go_on_in_further_calls_and_without_a_directory(tmp_path):
    settings = {"seed": 3, "eval_every": 0, "workers": 1, "tensorboard_log": tmp_path}
    agent = mppo.MPPO(ledge, SMALL["mp-trpo"], **settings)
    agent.learn(2 * BATCH).learn(2 * BATCH)
    found = read_back(tmp_path / "custom_1")
    assert [at for at, _ in found["paths/picked"]] == [BATCH * n for n in range(1, 5)]
    mppo.MPPO(ledge, SMALL["mp-trpo"], **settings).learn(BATCH)
    assert [at for at, _ in read_back(tmp_path / "custom_2")["paths/picked"]] == [BATCH]


def test_an_interrupted_run_s_curves_have_no_gap_and_nothing_twice(tmp_path):
    """Rows and events were written beyond the checkpoint; events are missing at the end, too."""
    out = tmp_path / "run"

    class Cut(Exception):
        pass

    class Lossy(TensorBoard):  # what kill -9 leaves: the last iterations' events never written
        def log(self, steps, numbers):
            if steps <= 3 * BATCH:
                super().log(steps, numbers)

    def die(event, row):
        if row["steps"] == 5 * BATCH:
            raise Cut

    with pytest.raises(Cut):
        train(out, 8, loggers=[Lossy()], callback=die, checkpoint_every=4)
    (out / "checkpoints" / "000000005.json").unlink()  # as if the end had not been saved
    assert len(rows(out, "metrics.jsonl")) == 5
    train(out, 8, loggers=[TensorBoard()], checkpoint_every=4)
    assert len(list((out / "tensorboard").iterdir())) == 2
    same(read_back(out / "tensorboard"), wanted(out))


def test_killed_and_resumed_from_the_command_line(tmp_path):
    """kill -9 somewhere, then `mppo resume`, which goes on with the event files by itself."""
    words = ["train", "mp-trpo", "mppo/Maze-v0", "--steps", "6000", "--batch-size", "200"]
    words += ["--network.hidden", "4", "--critic.network.hidden", "4", "--eval-every", "1000"]
    words += ["--eval-episodes", "1", "--checkpoint-every", "7", "--tensorboard", "--quiet"]
    out = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-m", "mppo", *words, "--out", str(out)])
    deadline = time.monotonic() + 60
    while len(rows(out, "metrics.jsonl")) < 10 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    assert not (out / "final.json").exists()
    assert main(["resume", str(out), "--quiet"]) == 0
    assert len(rows(out, "metrics.jsonl")) == 30
    same(read_back(out / "tensorboard"), wanted(out))


class Module:
    """A tracker that notes what it is told."""

    def __init__(self):
        self.begun, self.told, self.finished = [], [], 0

    def init(self, **settings):
        self.begun.append(settings)
        return SimpleNamespace(id=settings.get("id") or "abc")

    def log(self, numbers, step):
        self.told.append((step, numbers))

    def finish(self):
        self.finished += 1


@pytest.mark.parametrize(("name", "tracker"), [("wandb", WandB), ("trackio", Trackio)])
def test_trackers_are_told_every_step_once(tmp_path, monkeypatch, name, tracker):
    module = Module()
    monkeypatch.setitem(sys.modules, name, module)
    out = tmp_path / "run"
    agent = mppo.MPPO(
        ledge, SMALL["mp-trpo"], seed=3, out=out, eval_every=0, loggers=[tracker("mazes")]
    )
    agent.learn(2 * BATCH).learn(2 * BATCH)
    assert [step for step, _ in module.told] == [BATCH * n for n in range(1, 5)]
    assert module.finished == len(module.begun) == 2
    for settings in module.begun:
        assert (settings["project"], settings["name"]) == ("mazes", "custom-Ledge-seed-3")
        assert settings["config"]["seed"] == 3
    assert module.told[0][1]["rollout/ep_rew_mean"] == rows(out, "metrics.jsonl")[0]["return_mean"]
    if name == "wandb":
        assert [settings["id"] for settings in module.begun] == [None, "abc"]
        assert json.loads((out / "wandb.json").read_text())["steps"] == 4 * BATCH
    else:
        assert [settings["resume"] for settings in module.begun] == ["never", "must"]

    send(out, [tracker("mazes")])  # all of it was told already
    assert len(module.told) == 4
    send(out, [tracker("elsewhere")])
    assert [step for step, _ in module.told[4:]] == [BATCH * n for n in range(1, 5)]


def test_a_logger_that_fails_is_left_out_and_the_run_goes_on(tmp_path, monkeypatch):
    module = Module()
    module.log = lambda numbers, step: 1 / 0
    monkeypatch.setitem(sys.modules, "trackio", module)
    with pytest.warns(RuntimeWarning, match="Trackio failed.*ZeroDivisionError"):
        train(tmp_path / "run", loggers=[Trackio("mazes")])
    assert (tmp_path / "run" / "final.json").exists()


class Listener:
    """A logger that notes what it is told."""

    def __init__(self):
        self.told = []

    def start(self, described, folder, steps):
        return 0

    def log(self, steps, numbers):
        self.told.append(steps)

    def close(self):
        self.told.append("closed")


def refuse(**settings):
    raise ConnectionError("no route to host")


def test_a_logger_that_fails_at_its_start_is_left_out_and_the_run_goes_on(tmp_path, monkeypatch):
    module, others = Module(), [Listener(), Listener()]
    module.init = refuse
    monkeypatch.setitem(sys.modules, "trackio", module)
    says = "Trackio failed and is left out from here on: ConnectionError: no route to host"
    with pytest.warns(RuntimeWarning, match=f"{says}; the run's own files are complete"):
        train(tmp_path / "run", loggers=[others[0], Trackio("mazes"), others[1]])
    assert (tmp_path / "run" / "final.json").exists()
    for other in others:
        assert other.told == [BATCH, 2 * BATCH, 3 * BATCH, 4 * BATCH, "closed"]
    assert (module.told, module.finished) == ([], 0)  # what has not begun is neither told nor ended

    with pytest.warns(RuntimeWarning, match=f"{says}$"):  # there are no files
        assert len(train(loggers=[Trackio("mazes")]).metrics) == 4


def test_a_request_that_no_logger_can_meet_ends_those_that_had_begun():
    other = Listener()
    with pytest.raises(BadRequest, match="needs a folder"):
        train(loggers=[other, TensorBoard()])
    assert other.told == ["closed"]


@pytest.mark.parametrize("fails", ["init", "log"])
def test_rows_that_nobody_takes_are_not_called_sent(run, monkeypatch, capsys, fails):
    module = Module()
    setattr(module, fails, lambda *given, **settings: refuse())
    monkeypatch.setitem(sys.modules, "trackio", module)
    monkeypatch.setattr(loggers.services, "write_atomically", lambda *_: None)
    with pytest.warns(RuntimeWarning, match="Trackio failed"):
        assert main(["logs", str(run), "--trackio", "mazes", "--follow"]) == 2
    said = capsys.readouterr()
    assert "no logger is left that takes the rows of" in said.err
    assert "sent" not in said.out


@pytest.mark.parametrize(
    ("make", "module", "extra"),
    [
        (TensorBoard, "tensorboardX", "tensorboard"),
        (lambda: WandB("p"), "wandb", "track"),
        (lambda: Trackio("p"), "trackio", "track"),
    ],
)
def test_a_missing_extra_is_named_at_once(monkeypatch, make, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BadRequest, match=rf'pip install "mppo\[{extra}\]"'):
        make()


def test_requests_that_cannot_be_met(tmp_path, capsys):
    assert main(["logs", str(tmp_path)]) == 2
    assert "where to?" in capsys.readouterr().err
    assert main(["logs", str(tmp_path / "none"), "--csv", "x.csv"]) == 2
    assert "there is no directory" in capsys.readouterr().err
    assert main(["logs", str(tmp_path), "--csv", "x.csv"]) == 2
    assert "holds no run" in capsys.readouterr().err
    with pytest.raises(BadRequest, match="holds no run"):
        send(tmp_path, [])
    with pytest.raises(BadRequest, match="needs a folder"):
        train(loggers=[TensorBoard()])


def test_following_a_run_until_it_ends(run, tmp_path, monkeypatch):
    """The newest row waits for its timing; the rest comes when the run has ended."""
    monkeypatch.setattr(loggers.records, "POLL", 0.0)
    ended = iter([False, True])
    monkeypatch.setattr(loggers.records.reader, "finished", lambda _: next(ended))
    told = []
    start = lambda described, folder, steps: 0
    log = lambda steps, numbers: told.append(steps)
    logger = SimpleNamespace(start=start, log=log, close=lambda: told.append("closed"))
    assert send(run, [logger], follow=True) == 4 * BATCH
    assert told == [BATCH, 2 * BATCH, 3 * BATCH, 4 * BATCH, "closed"]


def test_a_table_needs_a_run(tmp_path):
    with pytest.raises(BadRequest, match="holds no run"):
        write_csv(tmp_path, tmp_path / "x.csv")
