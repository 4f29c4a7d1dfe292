"""Opens damaged files under guard: limited memory and time, and no code but that of the loader."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from campaign.mutate import CANARY, Good, mutant
from campaign.small import Small
from mppo.algorithm.methods import METHODS
from mppo.envs.recorded import recorded_source
from mppo.envs.source import env_source
from mppo.errors import FAULTS, CheckpointError
from mppo.files import checkpoints, model_file, reader, settings
from mppo.files.description import described
from mppo.files.evaluation import Evaluation
from mppo.files.reader import LOGS
from mppo.files.run_directory import RunDirectory
from mppo.training.loop import describe
from mppo.training.run import Run
from mppo.training.start import begin, train

MEMORY = 1 << 30  # bytes beyond what the process has when it starts opening
SECONDS = 5  # for one file
FORBIDDEN = (
    "pickle.find_class",
    "exec",
    "compile",
    "import",
    "marshal.loads",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "subprocess.Popen",
    "ctypes.dlopen",
    "socket.",
    "urllib.",
    "webbrowser.",
)
CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod")
FOUND_OUT = 99  # exit code of a process that was caught


class Guard:
    """Ends the process at the first event that opening a file must never lead to."""

    def __init__(self, folder: Path):
        self.folder, self.armed = str(folder), False
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple) -> None:
        """Called by the interpreter before whatever it is about to do."""
        if not self.armed:
            return
        if event.startswith(FORBIDDEN) and not (event == "import" and arguments[0] in sys.modules):
            self._stop(event, arguments)
        if event == "open":
            writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
            if (arguments[2] or 0) & writes and not self._inside(arguments[0]):
                self._stop(event, arguments)
        elif event in CHANGES and not self._inside(arguments[0]):
            self._stop(event, arguments)

    def _inside(self, path: Any) -> bool:
        return isinstance(path, int) or os.path.abspath(os.fsdecode(path)).startswith(self.folder)

    def _stop(self, event: str, arguments: tuple) -> None:
        self.armed = False
        print(f"forbidden: {event} {str(arguments)[:200]}", file=sys.stderr, flush=True)
        os._exit(FOUND_OUT)


class Opener:
    """A run in a folder, whose files are replaced by damaged ones again and again."""

    def __init__(self, folder: Path):
        self.where, small = folder / "run", Small("mp-trpo", "mppo/Maze-v0", iterations=2)
        method = settings.overridden(METHODS[small.method], small.overrides)
        options: dict[str, Any] = {"steps": small.steps, "seed": 3}
        options |= {"eval_every": 400, "eval_episodes": 1}
        options["eval_deterministic_episodes"] = 1
        train(method, small.env, out=self.where, checkpoint_every=1, workers=1, **options)
        (self.where / "final.json").unlink()
        for older in ("000000001.json", "000000001.safetensors"):
            (self.where / "checkpoints" / older).unlink()
        self.run = Run(method, env_source(small.env), small.steps, 3, Evaluation(400, 1, 1), 1)
        self.name = settings.name_of(method)
        self.files = {
            "run": self.where / "run.json",
            "manifest": self.where / "checkpoints" / "000000002.json",
            "arrays": self.where / "checkpoints" / "000000002.safetensors",
        }
        self.model = folder / "model.safetensors"
        model_file.save(self.model, describe(self.run, self.name), *self._state())
        self.files["model"] = self.model
        self.logs = {name: (self.where / name).read_bytes() for name in LOGS}
        self.good = Good(**{field: file.read_bytes() for field, file in self.files.items()})
        for known in METHODS.values():  # what is imported or compiled is so before the guard
            settings.from_json(settings.to_json(known))
        self.open(self.good)
        for number in range(-40, 0):
            self.refusal(number)

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a checkpoint of it holds."""
        found = checkpoints.load(self.where / "checkpoints", 2)
        left_out = ("offsets", "logs_sha256")  # of the logs beside it, which a model has not
        return found.arrays, {k: v for k, v in found.data.items() if k not in left_out}

    def put(self, files: Good) -> None:
        """Write the files as they would lie there."""
        for field, file in self.files.items():
            file.write_bytes(getattr(files, field))
        for name, content in self.logs.items():
            (self.where / name).write_bytes(content)

    def open(self, files: Good) -> None:
        """All that `mppo resume` does before it trains, and all that loading a model does."""
        self.put(files)
        self._open_run()
        if files.model != getattr(self, "good", files).model:
            self._open_model()

    def _open_model(self) -> None:
        found = model_file.read(self.model)
        old = described(found.described)
        on = recorded_source(found.described)
        if (on.name, old.method) == (self.run.task.name, self.run.method):
            self.run.restore(found.checkpoint)

    def _open_run(self) -> None:
        found = reader.known_description(self.where)
        old = described(found)
        on = recorded_source(found)
        if (on.name, old.method) == (self.run.task.name, self.run.method):
            self._restore()

    def _restore(self) -> None:
        directory = RunDirectory(self.where)
        try:
            begin(self.run, directory, self.name)
            if directory.refused:  # with an older checkpoint it would go on from that
                raise CheckpointError(directory.refused[0])
        finally:
            directory.close()

    def refusal(self, number: int) -> tuple[str, bool, str | None]:
        """Open one damaged file: its kind, whether it may load, and how it was refused."""
        found = mutant(number, self.good)
        try:
            self.open(found.files)
        except FAULTS as error:
            return found.kind, found.may_load, str(error)
        return found.kind, found.may_load, None


def _virtual_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def open_all(numbers: range, progress: Path | None = None) -> dict[str, Any]:
    """Open the damaged files of these numbers; counts by kind of refused and loaded ones."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / f"{CANARY}.py").write_text("raise SystemExit('the canary was imported')\n")
        sys.path.insert(0, name)
        opener, guard = Opener(folder), Guard(folder)
        limit = _virtual_bytes() + MEMORY
        old = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (limit, old[1]))
        said = None if progress is None else progress.open("w", buffering=1)
        try:
            for number in numbers:
                if said is not None:
                    said.write(f"{number}\n")
                    faulthandler.dump_traceback_later(SECONDS, exit=True)
                guard.armed = True
                try:
                    kind, may_load, refused = opener.refusal(number)
                except Exception as error:  # anything else is a crash of the loader
                    guard.armed = False
                    wrong.append(f"{number}: {type(error).__name__}: {str(error)[:200]}")
                    counts["crashed"] += 1
                    continue
                finally:
                    guard.armed = False
                counts["refused" if refused else "loaded"] += 1
                counts[f"{'refused' if refused else 'loaded'}: {kind}"] += 1
                if not refused and not may_load:
                    wrong.append(f"{number}: {kind} was not noticed")
        finally:
            faulthandler.cancel_dump_traceback_later()
            resource.setrlimit(resource.RLIMIT_AS, old)
            sys.path.remove(name)
            if said is not None:
                said.close()
        if CANARY in sys.modules:
            wrong.append("the canary was imported")
    return {"counts": dict(sorted(counts.items())), "wrong": wrong}


if __name__ == "__main__":
    first, last = int(sys.argv[1]), int(sys.argv[2])
    print(json.dumps(open_all(range(first, last + 1), Path(sys.argv[3]))))
