"""Runs workload 1 or 2 in PositionBasedDynamics (pypbd) and prints one line of JSON.

    python pbd.py w1 64 10          cloth by XPBD, 10 substeps of a step of 5 ms
    python pbd.py w2 13 10 60       block by XPBD finite elements; stopped after 60 s of wall time
"""
import sys

import numpy as np
import pypbd as pbd

from common import FPS, Block, Clock, Sheet, report

CLOTH_XPBD, SOLID_XPBD = 4, 3
STEP = 0.005


def positions(particles, count):
    return np.array([particles.getPosition(i) for i in range(count)])


def main():
    work, n, substeps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    timer = Clock(float(sys.argv[4]) if len(sys.argv) > 4 else 120.0)
    simulation = pbd.Simulation.getCurrent()
    simulation.initDefault()
    model = simulation.getModel()
    if work == "w1":
        level = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], dtype=float)
        mesh = model.addRegularTriangleModel(n, n, [0, 0, 0], level, [1, 1], testMesh=False)
        count, held, mass = n * n, [0, n - 1], 0.2 / (n * n)
    else:
        mesh = model.addRegularTetModel(n, n, n, [0, 0, 0], np.eye(3), [1, 1, 1], testMesh=False)
        count, mass = n**3, 1000.0 / n**3
    particles = model.getParticles()
    start = positions(particles, count)
    if work == "w2":
        held = np.flatnonzero(start[:, 1] < start[:, 1].min() + 1e-6).tolist()
    for i in range(count):
        particles.setMass(i, mass)
    for i in held:
        particles.setMass(int(i), 0.0)
    if work == "w1":
        model.addClothConstraints(mesh, CLOTH_XPBD, 1000.0, 1000.0, 1000.0, 1000.0, 0.3, 0.3, False, False)
        model.addBendingConstraints(mesh, 3, 0.01)
        view = Sheet(n, False)
    else:
        model.addSolidConstraints(mesh, SOLID_XPBD, 1e5, 0.4, 1e5, False, False)
        # The list is a view of the mesh, which has to be kept.
        inner = mesh.getParticleMesh()
        view = Block(start, np.array(inner.getTets(), dtype=int).reshape(-1, 4).copy(), 1)
    stepper = simulation.getTimeStep()
    stepper.setValueUInt(pbd.TimeStepController.NUM_SUB_STEPS, substeps)
    stepper.setValueUInt(pbd.TimeStepController.MAX_ITERATIONS, 1)
    pbd.TimeManager.getCurrent().setTimeStepSize(STEP)

    done, frames, whole = 0, (1 if work == "w2" else 2) * FPS, True
    for frame in range(1, frames + 1):
        upto = round(frame / FPS / STEP)
        with timer:
            for _ in range(upto - done):
                stepper.step(model)
        done = upto
        x = positions(particles, count)
        if not np.isfinite(x).all() or (timer.spent() and frame < frames):
            whole = False
            break
        view.look(*((x, 2 * frame > frames) if work == "w2" else (x,)))
    report("pypbd", f"{substeps} substeps", timer, done * STEP, whole, view.figures())


main()
