"""Every module has a test file of its name, or a line here that says where it is tested."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES, SEARCH = "files/test_recovery.py", "cli/test_search.py"
PROCESSES, PAGE = "rollouts/test_processes.py", "report/test_page.py"
ELSEWHERE = {  # a step of something larger, which is what is tested; or a table that others read
    "algorithm/estimates.py": "algorithm/test_paths.py",
    "algorithm/optimisers/fisher.py": "algorithm/optimisers/test_trpo.py",
    "algorithm/types.py": "algorithm/test_advantages.py",
    "bench/peer_script.py": "bench/test_peers.py",
    "cli/bench.py": "bench/test_session.py",
    "cli/fields.py": "cli/test_properties.py",
    "cli/grids.py": "experiments/test_commands.py",
    "cli/gridview.py": "experiments/test_commands.py",
    "cli/naming.py": "cli/test_properties.py",
    "cli/paper.py": "experiments/test_commands.py",
    "cli/parser.py": "cli/test_cli.py",
    "cli/runs.py": "cli/test_cli.py",
    "cli/train.py": "cli/test_cli.py",
    "envs/masking.py": "training/test_masks.py",
    "envs/recipe.py": PROCESSES,
    "envs/recorded.py": "envs/test_source.py",
    "experiments/launch.py": "experiments/test_drive.py",
    "experiments/search.py": SEARCH,
    "experiments/study.py": SEARCH,
    "experiments/trials.py": SEARCH,
    "experiments/workers.py": "experiments/test_drive.py",
    "experiments/zoo.py": "cli/test_zoo.py",
    "export/described.py": "export/test_export.py",
    "export/graph.py": "export/test_export.py",
    "files/atomic.py": FILES,
    "files/checkpoints.py": FILES,
    "files/config_file.py": "cli/test_config.py",
    "files/evaluation.py": "training/test_options.py",
    "files/model_file.py": "training/test_model.py",
    "loggers/records.py": "loggers/test_loggers.py",
    "loggers/services.py": "loggers/test_loggers.py",
    "machine/lazy.py": "cli/test_cli.py",
    "machine/sharing.py": "rollouts/test_collector.py",
    "machine/signals.py": "experiments/test_interrupted.py",
    "machine/threads.py": "golden/test_golden.py",
    "paper/figures/drawing.py": "paper/figures/test_maze.py",
    "report/charts.py": PAGE,
    "report/diagnostics.py": PAGE,
    "report/paths.py": PAGE,
    "report/search.py": SEARCH,
    "report/style.py": PAGE,
    "report/text.py": "report/test_markup.py",
    "report/zoo.py": "cli/test_zoo.py",
    "rollouts/distributed.py": PROCESSES,
    "rollouts/pool.py": PROCESSES,
    "rollouts/worker.py": PROCESSES,
    "training/evaluating.py": "training/test_styles.py",
    "training/loop.py": "training/test_resume.py",
    "training/programs.py": "test_functional.py",
    "training/run.py": "training/test_resume.py",
    "training/workers.py": PROCESSES,
}


def without_a_test_file():
    modules = (path.relative_to(ROOT / "src" / "mppo") for path in (ROOT / "src").rglob("*.py"))
    named = (one for one in modules if not one.stem.startswith("__"))
    mirror = lambda one: ROOT / "tests" / one.parent / f"test_{one.name}"
    return {one.as_posix() for one in named if not mirror(one).exists()}


def test_tests_mirror_the_rooms():
    assert without_a_test_file() == set(ELSEWHERE)


def test_what_is_tested_elsewhere_is_tested_there():
    assert [name for name in ELSEWHERE.values() if not (ROOT / "tests" / name).exists()] == []
