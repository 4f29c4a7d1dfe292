"""A peer's training run, timed: runs by path in an interpreter that has the peer, not mppo.

`python peer_script.py --list` prints the installed peers and their versions as JSON;
`python peer_script.py NAME TASK ITERATIONS` trains and prints the seconds of each iteration;
`ENVS PACKAGE` behind that mean so many environments of `catalogue.py`, which PACKAGE registers.

The hyper-parameters are the paper's, as far as each peer's interface goes. Environments run in
one process one after the other (DummyVecEnv), which the peers' documentation recommends for cheap
environments; torch has its default number of threads.
"""

import importlib
import importlib.metadata
import itertools
import json
import os
import pathlib
import runpy
import sys
import time

DISCOUNT = {"gamma": 0.995, "gae_lambda": 0.97}
TRPO = {
    "batch_size": 64,
    "learning_rate": 1e-3,
    "n_critic_updates": 5,
    "cg_max_steps": 20,
    "cg_damping": 0.1,
    "target_kl": 0.01,
    "line_search_shrinking_factor": 0.5,
}
PPO = {"batch_size": 64, "learning_rate": 3e-4, "n_epochs": 10, "clip_range": 0.2}
BATCH = {"TRPO": 5000, "PPO": 2048}
PEERS = {  # name: distribution, module, class, environments, settings
    "sb3-contrib TRPO": ("sb3-contrib", "sb3_contrib", "TRPO", 1, TRPO),
    "SB3 PPO": ("stable-baselines3", "stable_baselines3", "PPO", 1, PPO),
    "SBX PPO": ("sbx-rl", "sbx", "PPO", 1, PPO),
    "Tianshou TRPO": ("tianshou", "tianshou", "TRPO", 1, TRPO),
    "Tianshou PPO": ("tianshou", "tianshou", "PPO", 1, PPO),
    "sb3-contrib TRPO, 5 environments": ("sb3-contrib", "sb3_contrib", "TRPO", 5, TRPO),
    "SB3 PPO, 2 environments": ("stable-baselines3", "stable_baselines3", "PPO", 2, PPO),
    "SBX PPO, 2 environments": ("sbx-rl", "sbx", "PPO", 2, PPO),
}
LIBRARIES = ("torch", "jax", "gymnasium", "mujoco", "numpy")


def installed() -> dict:
    """The peers of this interpreter and the versions of what they rest on."""
    known = {name: _version(distribution) for name, (distribution, *_) in PEERS.items()}
    return {"peers": known, "libraries": {name: _version(name) for name in LIBRARIES}}


def _version(distribution):
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def train(name, env, iterations, *listed):
    """Times at which iterations began, and the end; steps of one iteration."""
    _, module, kind, envs, settings = PEERS[name]
    if listed:
        catalogue = runpy.run_path(str(pathlib.Path(__file__).with_name("catalogue.py")))
        env_id, envs, env = env, int(listed[0]), lambda: catalogue["make_flat"](env_id, *listed[1:])
    settings = {"n_steps": BATCH[kind] // envs, **settings}
    if module == "tianshou":
        marks = _tianshou(kind, env, envs, settings, iterations)
    else:
        marks = _stable_baselines(module, kind, env, envs, settings, iterations)
    steps = envs * settings["n_steps"]
    return {"steps": steps, "seconds": [b - a for a, b in itertools.pairwise(marks)]}


def _stable_baselines(module, kind, env, envs, settings, iterations):
    algorithm = getattr(importlib.import_module(module), kind)
    callbacks = importlib.import_module("stable_baselines3.common.callbacks")
    env_util = importlib.import_module("stable_baselines3.common.env_util")
    vec_env = importlib.import_module("stable_baselines3.common.vec_env")
    marks = []

    class Marks(callbacks.BaseCallback):
        def _on_rollout_start(self):
            marks.append(time.perf_counter())

        def _on_step(self):
            return True

    vector = env_util.make_vec_env(env, envs, seed=0)
    vector = vec_env.VecNormalize(vector, norm_reward=False, clip_obs=5.0)
    model = algorithm("MlpPolicy", vector, seed=0, device="cpu", **DISCOUNT, **settings)
    model.learn(iterations * envs * settings["n_steps"], callback=Marks())
    marks.append(time.perf_counter())
    return marks


def _tianshou(kind, env, envs, settings, iterations):
    """Tianshou 2: its TRPO has ten conjugate-gradient steps fixed, and full-batch critic steps."""
    os.environ.setdefault("TQDM_DISABLE", "1")
    names = ("algorithm", "algorithm.optim", "env", "data", "trainer")
    modules = (importlib.import_module(f"tianshou.{name}") for name in names)
    algorithms, optim, vectors, data, trainer = modules
    gymnasium = importlib.import_module("gymnasium")
    vector = vectors.DummyVectorEnv([lambda: gymnasium.make(env)] * envs)
    vector = vectors.VectorEnvNormObs(vector)
    vector.seed(0)
    policy, critic = _tianshou_networks(vector)
    learning = optim.AdamOptimizerFactory(lr=settings["learning_rate"])
    given = {"policy": policy, "critic": critic, "optim": learning, **DISCOUNT}
    algorithm = _tianshou_algorithm(algorithms, kind, settings, given)
    steps = envs * settings["n_steps"]
    collector = data.Collector(algorithm, vector, data.VectorReplayBuffer(steps, envs))
    marks = []
    parameters = trainer.OnPolicyTrainerParams(
        training_collector=collector,
        max_epochs=1,
        epoch_num_steps=iterations * steps,
        collection_step_num_env_steps=steps,
        batch_size=settings["batch_size"] if kind == "PPO" else None,
        update_step_num_repetitions=settings["n_epochs"] if kind == "PPO" else 1,
        training_fn=lambda epoch, step: marks.append(time.perf_counter()),
        test_collector=None,
        show_progress=False,
        verbose=False,
    )
    algorithm.run_training(parameters)
    marks.append(time.perf_counter())
    return marks


def _tianshou_algorithm(algorithms, kind, settings, given):
    if kind == "PPO":
        return algorithms.PPO(eps_clip=settings["clip_range"], ent_coef=0.0, **given)
    return algorithms.TRPO(
        max_kl=settings["target_kl"],
        backtrack_coeff=settings["line_search_shrinking_factor"],
        optim_critic_iters=settings["n_critic_updates"],
        **given,
    )


def _tianshou_networks(vector):
    """Two tanh networks of 64 and 64 units."""
    names = ("utils.net.common", "utils.net.continuous", "algorithm.modelfree.reinforce")
    modules = (importlib.import_module(f"tianshou.{name}") for name in names)
    common, continuous, reinforce = modules
    torch = importlib.import_module("torch")
    seen, acted = vector.observation_space[0], vector.action_space[0]

    def network():
        return common.Net(state_shape=seen.shape, hidden_sizes=[64, 64], activation=torch.nn.Tanh)

    normal, independent = torch.distributions.Normal, torch.distributions.Independent
    actor = continuous.ContinuousActorProbabilistic(
        preprocess_net=network(), action_shape=acted.shape, unbounded=True
    )
    policy = reinforce.ProbabilisticActorPolicy(
        actor=actor,
        dist_fn=lambda given: independent(normal(*given), 1),
        action_space=acted,
        action_scaling=True,
        action_bound_method="clip",
    )
    return policy, continuous.ContinuousCritic(preprocess_net=network())


def main(words):
    """Print one line of JSON."""
    if words == ["--list"]:
        answer = installed()
    else:
        name, env, iterations, *listed = words
        answer = train(name, env, int(iterations), *listed)
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
