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

    def wait_until_ready(self):
        assert self.calls[-1][-1]["together"]

    def go(self):
        pass

    def stop(self):
        pass

    def finish(self, process):
        n = len(self.calls)
        rates = {"one": 1.0 * n, "all": 1.5 * n, "bare one": 2.0 * n, "bare all": 4.0 * n}
        memory = {"now": 400.0 + n, "peak": 500.0 + n}
        return {"rate": 100.0 * n, "bare_rate": 200.0 * n, "seconds": [9.0, 1.0 * n, 0.0],
                "rates": rates, "resident_mib": memory}  # fmt: skip
