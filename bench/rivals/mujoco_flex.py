"""Runs a workload in MuJoCo's flexible bodies and prints one line of JSON.

    python mujoco_flex.py w1 64 4          cloth by elastic triangles, steps of 4 ms
    python mujoco_flex.py w2 13 4          block by finite elements, conjugate gradients
    python mujoco_flex.py w3 64 2 60       cloth over a ball; stopped after 60 s of wall time
"""
import sys

import mujoco
import numpy as np

from common import BALL, FPS, Block, Clock, Sheet, five_tetrahedra, report


def cloth(work, n):
    gap = 1.0 / (n - 1)
    if work == "w1":
        extra, rules, ball = f'<pin id="0 {n - 1}"/>', 'contype="0" conaffinity="0"', ""
    else:
        extra, rules = "", 'condim="3" friction="0.3 0.005 0.0001"'
        ball = f'<geom type="sphere" size="{BALL}" friction="0.3 0.005 0.0001"/>'
    height, radius = (BALL + 0.05, 0.005) if work == "w3" else (0.0, 0.001)
    return (f'{ball}<flexcomp name="body" type="grid" dim="2" count="{n} {n} 1" spacing="{gap:.12f} {gap:.12f} 1" '
            f'pos="0 0 {height}" radius="{radius}" mass="0.2"><elasticity young="1e6" poisson="0" thickness="1e-3" '
            f'elastic2d="both" damping="0.002"/><contact selfcollide="none" {rules}/>{extra}</flexcomp>')


def block(n):
    gap = 1.0 / (n - 1)
    low = " ".join(str(k * n) for k in range(n * n))
    return (f'<flexcomp name="body" type="grid" dim="3" count="{n} {n} {n}" spacing="{gap:.12f} {gap:.12f} {gap:.12f}" '
            f'pos="0 0 0.5" radius="0.001" mass="1000"><elasticity young="1e5" poisson="0.4" damping="0.002"/>'
            f'<contact selfcollide="none" contype="0" conaffinity="0"/><pin id="{low}"/></flexcomp>')


def main():
    work, n, ms = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    clock = Clock(float(sys.argv[4]) if len(sys.argv) > 4 else 120.0)
    body, solver = (block(n), "CG") if work == "w2" else (cloth(work, n), "Newton")
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{1e-3 * ms}" solver="{solver}" integrator="discrete" gravity="0 0 -9.81"/>'
        f'<size memory="4G"/><worldbody>{body}</worldbody></mujoco>')
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    start = data.flexvert_xpos.copy()
    view = Block(start, five_tetrahedra(n), 2) if work == "w2" else Sheet(n, work == "w3")
    seconds, done = (1 if work == "w2" else 2), 0
    frames, whole = seconds * FPS, True
    for frame in range(1, frames + 1):
        upto = round(frame / FPS / (1e-3 * ms))
        with clock:
            for _ in range(upto - done):
                mujoco.mj_step(model, data)
        done = upto
        x = data.flexvert_xpos
        if not np.isfinite(x).all() or (clock.spent() and frame < frames):
            whole = False
            break
        view.look(*((x, 2 * frame > frames) if work == "w2" else (x,)))
    report(f"MuJoCo {mujoco.__version__}", f"{ms:g} ms", clock, done * 1e-3 * ms, whole, view.figures())


main()
