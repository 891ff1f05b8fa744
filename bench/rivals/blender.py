"""Runs a cloth workload in Blender's cloth modifier (its Python module) and prints one line of JSON.

    python blender.py w1 64 10          cloth from two corners, ten substeps a frame at 60 frames a second
    python blender.py w3 64 10 60       cloth over a ball; stopped after 60 s of wall time
"""
import sys

import bpy
import numpy as np

from common import BALL, FPS, Clock, Sheet, report

STIFFNESS, MASS, SECONDS = 1000.0, 0.2, 2


def sheet(work, n):
    """A level square metre, its first side in line with the first index, hung at its first and its last node or over the ball."""
    along = np.linspace(-0.5, 0.5, n)
    height = BALL + 0.05 if work == "w3" else 0.0
    corners = [(x, y, height) for x in along for y in along]
    node = lambda i, j: i * n + j
    cells = [(node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)) for i in range(n - 1) for j in range(n - 1)]
    mesh = bpy.data.meshes.new("sheet")
    mesh.from_pydata(corners, [], cells)
    body = bpy.data.objects.new("sheet", mesh)
    bpy.context.scene.collection.objects.link(body)
    return body


def main():
    work, n, substeps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    clock = Clock(float(sys.argv[4]) if len(sys.argv) > 4 else 120.0)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = FPS, 1, SECONDS * FPS + 1
    scene.gravity = (0, 0, -9.81)
    body = sheet(work, n)
    cloth = body.modifiers.new("cloth", "CLOTH")
    settings, collisions = cloth.settings, cloth.collision_settings
    settings.quality, settings.mass, settings.air_damping = substeps, MASS / n**2, 0.0
    settings.tension_stiffness = settings.compression_stiffness = settings.shear_stiffness = STIFFNESS
    settings.bending_stiffness = 0.0
    settings.tension_damping = settings.compression_damping = settings.shear_damping = 0.0
    collisions.use_self_collision, collisions.use_collision = False, work == "w3"
    if work == "w1":
        held = body.vertex_groups.new(name="held")
        held.add([0, n - 1], 1.0, "REPLACE")
        settings.vertex_group_mass = "held"
    else:
        collisions.distance_min = 0.001
        bpy.ops.mesh.primitive_uv_sphere_add(segments=128, ring_count=64, radius=BALL)
        ball = bpy.context.object
        ball.modifiers.new("collision", "COLLISION")
        ball.collision.thickness_outer, ball.collision.cloth_friction = 0.001, 5.0
    cloth.point_cache.frame_start, cloth.point_cache.frame_end = 1, SECONDS * FPS + 1

    def positions():
        shape = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        x = np.empty(3 * n * n, dtype=np.float32)
        shape.vertices.foreach_get("co", x)
        return x.reshape(-1, 3).astype(float)

    scene.frame_set(1)
    view, frames, done, whole = Sheet(n, work == "w3"), SECONDS * FPS, 0, True
    for frame in range(1, frames + 1):
        with clock:
            scene.frame_set(frame + 1)
        done, x = frame, positions()
        if not np.isfinite(x).all() or np.abs(x).max() > 1e3 or (clock.spent() and frame < frames):
            whole = False
            break
        view.look(x)
    report(f"Blender {bpy.app.version_string}", f"{substeps} substeps", clock, done / FPS, whole, view.figures())


main()
