"""A session whose processes give chosen numbers at once."""

from mppo.bench.session import Session


class Pretended(Session):
    """Counts its runs: the n-th trains at 100 n steps a second and leaves n MiB more behind."""

    def __init__(self, folder, cores=(0, 1), quick=False):
        super().__init__(3, quick, list(cores), folder)
        self.calls = []

    def start(self, method, env, steps=0, on="one", repetition=0, **workload):
        self.calls.append((method, env, on, repetition, workload))
        return self

    def start_module(self, module, pinned, task, label):
        self.calls.append((module, task["env"], label["on"], pinned, task))
        return self

    def wait_until_ready(self):
        assert self.calls[-1][-1]["together"]

    def go(self):
        pass

    def stop(self):
        pass

    def finish(self, process):
        n = len(self.calls)
        if self.calls[-1][0] == "mppo.bench.stepping":
            return self.stepped(n, self.calls[-1][-1])
        rates = {"one": 1.0 * n, "all": 1.5 * n, "bare one": 2.0 * n, "bare all": 4.0 * n}
        memory = {"now": 400.0 + n, "peak": 500.0 + n}
        return {"rate": 100.0 * n, "bare_rate": 200.0 * n, "seconds": [9.0, 1.0 * n, 0.0],
                "rates": rates, "resident_mib": memory}  # fmt: skip

    def stepped(self, n, task):
        """Training takes 4 seconds, collecting 2.5, bare steps 2; the robots are compiled."""
        native = "bench/" not in task["env"] and task["env"].endswith("-v5")
        seconds = {"training": 4.0, "collecting": 2.5, "again": 2.0, "random": 2.0}
        if native:
            del seconds["again"]
        steps = dict.fromkeys(seconds, 2000) | {"training": 2048}
        seconds = {name: [took] * task["repetitions"] for name, took in seconds.items()}
        return {"rate": 1000.0, "steps": steps, "seconds": seconds, "native": native, "envs": 2}
