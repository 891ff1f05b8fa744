"""Runs workload 1 or 2 in PositionBasedDynamics (pypbd) and prints one line of JSON.

    python pbd.py w1 64 10     cloth by XPBD, 10 substeps of a step of 5 ms
    python pbd.py w2 13 10     block by XPBD finite elements
"""
import json
import sys
import time

import numpy as np
import pypbd as pbd

CLOTH_XPBD, SOLID_XPBD = 4, 3
STEP, FPS = 0.005, 60


def positions(particles, count):
    return np.array([particles.getPosition(i) for i in range(count)])


def largest_stretch(x, n):
    sheet, rest = x.reshape(n, n, 3), 1.0 / (n - 1)
    along = [np.linalg.norm(np.diff(sheet, axis=axis), axis=2).max() for axis in (0, 1)]
    return max(along) / rest - 1.0


def volumes(x, cells):
    edges = x[cells[:, 1:]] - x[cells[:, :1]]
    return np.abs(np.linalg.det(edges)).sum()


def main():
    work, n, substeps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
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
    else:
        model.addSolidConstraints(mesh, SOLID_XPBD, 1e5, 0.4, 1e5, False, False)
    clock = simulation.getTimeStep()
    clock.setValueUInt(pbd.TimeStepController.NUM_SUB_STEPS, substeps)
    clock.setValueUInt(pbd.TimeStepController.MAX_ITERATIONS, 1)
    pbd.TimeManager.getCurrent().setTimeStepSize(STEP)

    seconds = 1 if work == "w2" else 2
    wall = cpu = 0.0
    worst = end = drop = volume = 0.0
    cells = None
    if work == "w2":
        # The list is a view of the mesh, which has to be kept.
        inner = mesh.getParticleMesh()
        cells = np.array(inner.getTets(), dtype=int).reshape(-1, 4).copy()
        before = volumes(start, cells)
        top = start[:, 1] > start[:, 1].max() - 1e-6
    done, frames = 0, seconds * FPS
    for frame in range(1, frames + 1):
        upto = round(frame / FPS / STEP)
        from_wall, from_cpu = time.perf_counter(), time.process_time()
        for _ in range(upto - done):
            clock.step(model)
        wall += time.perf_counter() - from_wall
        cpu += time.process_time() - from_cpu
        done = upto
        x = positions(particles, count)
        if not np.isfinite(x).all():
            break
        if work == "w1":
            end = largest_stretch(x, n)
            worst = max(worst, end)
        elif 2 * frame > frames:
            drop += 2.0 / frames * (start[top, 1] - x[top, 1]).mean()
            volume += 2.0 / frames * (volumes(x, cells) / before - 1.0)
    print(json.dumps({
        "name": "pypbd", "settings": f"{substeps} substeps", "cpu_per_second": cpu / seconds,
        "wall_per_second": wall / seconds,
        "quality": {"end_stretch": end, "worst_stretch": worst, "mean_drop": drop, "volume_change": volume},
    }))


main()
