"""What the checks share: the truth, and a line for every check."""

import json
import sys

import numpy as np

TOLERANCE = 1e-5  # of the size of the model


class Truth:
    """What the run held, as the example wrote it down."""

    def __init__(self, folder):
        with open(f"{folder}/truth.json") as file:
            self.all = json.load(file)
        self.folder = folder
        self.fps = self.all["fps"]
        self.checked = self.all["checked"]
        self.bodies = self.all["bodies"]
        everything = [self.positions(body, frame) for body in self.bodies for frame in self.checked]
        corners = np.concatenate(everything)
        self.size = float(np.linalg.norm(corners.max(axis=0) - corners.min(axis=0)))

    def positions(self, body, frame):
        return np.array(body["frames"][str(frame)]["positions"], dtype=np.float64)

    def node_data(self, body, frame, name):
        return np.array(body["frames"][str(frame)][name], dtype=np.float64)

    def line_order(self, body):
        """Vertices along the segments, which curves without indices need."""
        order = [body["segments"][0][0]]
        for a, b in body["segments"]:
            assert order[-1] == a
            order.append(b)
        return order[:-1] if order[0] == order[-1] else order


failures = 0


def check(name, passed, detail=""):
    """One line for one check."""
    global failures
    failures += not passed
    print(f"{'ok    ' if passed else 'FAILED'}  {name}{': ' if detail else ''}{detail}", flush=True)


def check_positions(name, found, expected, size):
    """Right count and every vertex in its place."""
    found = np.asarray(found, dtype=np.float64)
    if found.shape != expected.shape:
        check(name, False, f"{found.shape[0]} vertices where the run has {expected.shape[0]}")
        return
    error = float(np.abs(found - expected).max()) / size
    check(name, bool(error <= TOLERANCE), f"largest error {error:.1e} of the size")


def check_values(name, found, expected, tolerance=1e-5):
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if found.shape != expected.shape:
        check(name, False, f"shape {found.shape} where {expected.shape} is right")
        return
    error = float(np.abs(found - expected).max()) if found.size else 0.0
    check(name, bool(error <= tolerance), f"largest difference {error:.1e}")


def guarded(name, work):
    """Runs a group of checks; an exception is a failure and not the end."""
    try:
        work()
    except Exception as fault:  # whatever a reader throws
        check(name, False, f"{type(fault).__name__}: {fault}")


def end():
    sys.stdout.flush()
    sys.exit(1 if failures else 0)
