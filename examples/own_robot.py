"""A MuJoCo model of your own at full speed: its XML, and three functions that are compiled."""

import mppo
from mppo.envs.robots.rules import control_cost

XML = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <body>
      <joint name="slide" type="slide" axis="1 0 0" range="-2 2" limited="true"/>
      <geom type="box" size="0.2 0.1 0.1" mass="1"/>
      <body pos="0 0 0.1">
        <joint name="hinge" type="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.04" mass="0.1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slide" gear="20" ctrlrange="-1 1" ctrllimited="true"/></actuator>
</mujoco>"""


def observe(body, numbers, observation):
    observation[:2] = body.qpos
    observation[2:] = body.qvel


def healthy(body, numbers):
    return abs(body.qpos[1]) < numbers[0]


def reward(body, numbers, before, is_healthy):
    return (1.0 if is_healthy else 0.0) - control_cost(body, numbers[1])


own = {"observation_size": 4, "numbers": (0.3, 0.01)}
mppo.register_robot("CartAndPole-v0", XML, observe, reward, healthy, **own)
model = mppo.MPPO("CartAndPole-v0", "trpo", batch_size=1000, eval_every=0)
model.learn(10_000)
print(f"{model.metrics[0]['return_mean']:.1f} -> {model.metrics[-1]['return_mean']:.1f}")
