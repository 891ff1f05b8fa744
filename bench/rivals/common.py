"""What the rivals' scripts share: the clock, the figures of quality, and the line of JSON that is printed."""
import json
import time

import numpy as np

FPS = 60
BALL = 0.3


class Clock:
    """Adds up wall and processor time spent inside `with`."""

    def __init__(self, most):
        self.wall = self.cpu = 0.0
        self.most = most

    def __enter__(self):
        self.start = time.perf_counter(), time.process_time()

    def __exit__(self, *_):
        self.wall += time.perf_counter() - self.start[0]
        self.cpu += time.process_time() - self.start[1]

    def spent(self):
        return self.wall > self.most


class Sheet:
    """Figures of a cloth of n x n nodes, row by row."""

    def __init__(self, n, over_ball):
        self.n, self.over_ball = n, over_ball
        self.end = self.worst = 0.0
        self.depth = [0.0, 0.0]

    def look(self, x):
        grid, rest = x.reshape(self.n, self.n, 3), 1.0 / (self.n - 1)
        along = [np.linalg.norm(np.diff(grid, axis=axis), axis=2).max() for axis in (0, 1)]
        self.end = float(max(along) / rest - 1.0)
        self.worst = max(self.worst, self.end)
        if self.over_ball:
            middles = (grid[1:, 1:] + grid[:-1, 1:] + grid[1:, :-1] + grid[:-1, :-1]) / 4
            for k, points in enumerate((grid, middles)):
                self.depth[k] = max(self.depth[k], float(BALL - np.linalg.norm(points, axis=2).min()))

    def figures(self):
        return {"end_stretch": self.end, "worst_stretch": self.worst, "node_depth": self.depth[0], "cell_depth": self.depth[1]}


class Block:
    """Figures of a block: mean fall of its top and change of volume over the second half of the run."""

    def __init__(self, start, cells, up):
        self.start, self.cells, self.up = start, cells, up
        self.top = start[:, up] > start[:, up].max() - 1e-6
        self.before = self.volume(start)
        self.drops, self.volumes = [], []

    def volume(self, x):
        edges = x[self.cells[:, 1:]] - x[self.cells[:, :1]]
        return np.abs(np.linalg.det(edges)).sum()

    def look(self, x, late):
        if late:
            self.drops.append((self.start[self.top, self.up] - x[self.top, self.up]).mean())
            self.volumes.append(self.volume(x) / self.before - 1.0)

    def figures(self):
        mean = lambda values: float(np.mean(values)) if values else 0.0
        return {"mean_drop": mean(self.drops), "volume_change": mean(self.volumes)}


def five_tetrahedra(n):
    """Corners of the cells of a block of n³ nodes, five tetrahedra to a cube, mirrored from cube to cube; the last index runs fastest."""
    even = [[0, 3, 5, 6], [1, 0, 3, 5], [2, 0, 3, 6], [4, 0, 5, 6], [7, 3, 5, 6]]
    odd = [[7 - corner for corner in cell] for cell in even]
    base = np.stack(np.meshgrid(*[np.arange(n - 1)] * 3, indexing="ij"), -1).reshape(-1, 3)
    steps = np.array([[c & 1, c >> 1 & 1, c >> 2 & 1] for c in range(8)])
    corners = (base[:, None] + steps[None]) @ np.array([n * n, n, 1])
    parity = base.sum(1) % 2
    return np.concatenate([corners[parity == p][:, cells].reshape(-1, 4) for p, cells in ((0, even), (1, odd))])


def report(name, settings, clock, simulated, whole, figures):
    """Costs of what was simulated; a run that was stopped early, or that blew up, says so."""
    print(json.dumps({
        "name": name, "settings": settings, "cpu_per_second": clock.cpu / simulated, "wall_per_second": clock.wall / simulated,
        "simulated": simulated, "whole": bool(whole), "quality": figures,
    }))
