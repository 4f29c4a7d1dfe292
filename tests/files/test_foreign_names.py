"""Names of Stable-Baselines3: each is answered with a field that the method has, or a reason."""

import re
from pathlib import Path

import pytest

from mppo.algorithm.methods import METHODS, Method
from mppo.cli.naming import parser_for
from mppo.cli.train import parsed
from mppo.errors import BadRequest
from mppo.files.foreign_names import NAMES, answer, flag, keyword
from mppo.files.settings import overridden

OF_PPO = (
    *("policy", "learning_rate", "n_steps", "n_epochs", "clip_range", "clip_range_vf"),
    *("normalize_advantage", "ent_coef", "vf_coef", "max_grad_norm", "use_sde", "sde_sample_freq"),
    *("rollout_buffer_class", "rollout_buffer_kwargs", "target_kl", "stats_window_size"),
    *("policy_kwargs", "device"),
)
OF_TRPO = (
    *("cg_max_steps", "cg_damping", "line_search_shrinking_factor", "line_search_max_iter"),
    *("n_critic_updates", "sub_sampling_factor"),
)
OURS_TOO = ("batch_size", "gamma", "gae_lambda", "seed", "verbose", "tensorboard_log")
HERE = {
    "ppo": {
        "learning_rate": ["optimiser.learning_rate", "critic.learning_rate"],
        "n_epochs": ["optimiser.epochs", "critic.epochs"],
        "clip_range": ["optimiser.clip"],
        "max_grad_norm": ["optimiser.max_gradient_norm"],
        "target_kl": ["optimiser.target_kl"],
        "cg_max_steps": [],
        "sub_sampling_factor": [],
    },
    "mp-trpo": {
        "learning_rate": ["optimiser.max_kl", "critic.learning_rate"],
        "n_epochs": ["critic.epochs"],
        "clip_range": ["optimiser.max_kl"],
        "max_grad_norm": ["optimiser.max_kl"],
        "target_kl": ["optimiser.max_kl"],
        "cg_max_steps": ["optimiser.cg_iterations"],
        "cg_damping": ["optimiser.damping"],
        "line_search_shrinking_factor": ["optimiser.shrink"],
        "line_search_max_iter": ["optimiser.backtracks"],
        "sub_sampling_factor": ["optimiser.fisher_stride"],
    },
}
BOTH = {
    "n_steps": ["batch_size"],
    "n_envs": ["envs", "batch_size"],
    "ent_coef": ["optimiser.entropy_coefficient"],
    "vf_coef": ["critic.learning_rate"],
    "normalize_advantage": ["advantage_scaling"],
    "n_critic_updates": ["critic.epochs"],
    "clip_range_vf": ["critic.clip"],
    "ortho_init": ["network.weights", "critic.network.weights"],
    "norm_reward": ["reward_scaling"],
    "policy_kwargs": ["network.hidden", "critic.network.hidden"],
}


def fields_of(method, spelt):
    """Every field of a method and its components, as it is spelt, with its value."""
    found = {}

    def walk(component, prefix):
        for name in component.__dataclass_fields__:
            value = getattr(component, name)
            found[spelt(prefix + name)] = prefix + name
            if hasattr(value, "__dataclass_fields__"):
                walk(value, f"{prefix}{name}.")

    walk(method, "")
    return found


@pytest.mark.parametrize("spelt", [keyword, flag])
@pytest.mark.parametrize("name", METHODS)
def test_every_answer_names_fields_that_the_method_has(name, spelt):
    method = METHODS[name]
    known = fields_of(method, spelt)
    like = r"\w+__\w+" if spelt is keyword else r"--[\w.-]+\w"
    for foreign in NAMES:
        said = answer(foreign, method, spelt)
        assert said, foreign
        assert "`" not in said
        named = set(re.findall(like, said)) - set(parser_for(method, name).options)
        if spelt is keyword:
            assert named <= set(known), foreign
        else:
            assert not named, (foreign, named)
    kind = "mp-trpo" if "trpo" in name else "ppo"
    for foreign, wanted in (HERE[kind] | BOTH).items():
        said = answer(foreign, method, spelt)
        words = [word for word in re.findall(r"[\w.-]+\w", said) if word in known]
        found = [known[word] for word in words if re.search("_|-|envs", word)]  # no plain words
        assert found == wanted, (foreign, said)


@pytest.mark.parametrize("foreign", [*OF_PPO, *OF_TRPO, "n_envs"])
@pytest.mark.parametrize("name", ["ppo", "mp-trpo"])
def test_each_name_is_refused_with_its_answer_as_keyword_and_as_flag(name, foreign):
    with pytest.raises(BadRequest) as caught:
        overridden(METHODS[name], {foreign: 1})
    assert str(caught.value) == f'mppo takes no "{foreign}"; {answer(foreign, METHODS[name])}'
    dashes = flag(foreign)
    for words in ([dashes, "1"], [f"{dashes}=1"]):
        with pytest.raises(BadRequest) as caught:
            parsed([name, "CartPole-v1", *words])
        said = answer(foreign, METHODS[name], flag)
        assert str(caught.value) == f'unknown option "{dashes}"; {said}'


def test_the_answer_is_that_of_the_optimiser_wanted():
    with pytest.raises(BadRequest, match="here it is optimiser__max_kl"):
        overridden(METHODS["ppo"], {"target_kl": 0.1, "optimiser": "trpo"})
    with pytest.raises(BadRequest, match=r"here it is --optimiser\.max-kl"):
        parsed(["ppo", "CartPole-v1", "--target-kl", "0.1", "--optimiser", "trpo"])


def test_the_page_says_the_same():
    """Every name of Stable-Baselines3's that the page promises is answered, and the other way."""
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    table = page.partition("## Coming from Stable-Baselines3")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    shown = {word for row in rows for word in re.findall(r"`(\w+)`", row[0])}
    for name in (*OF_PPO, *OF_TRPO, "n_envs"):
        assert name in shown or f"{name}=" in table, name
    fields = set(fields_of(Method(), keyword)) | set(fields_of(METHODS["ppo"], keyword))
    named = {word for row in rows for word in re.findall(r"`(\w+__\w+)`", row[1])}
    assert named <= fields
    for name in shown & set(NAMES):
        answers = {
            word
            for method in ("ppo", "mp-trpo")
            for word in re.findall(r"\w+__\w+", answer(name, METHODS[method]))
        }
        (row,) = [row for row in rows if f"`{name}`" in row[0]]
        assert not answers or answers & set(re.findall(r"\w+__\w+", row[1])), name
    assert set(OURS_TOO) <= shown
