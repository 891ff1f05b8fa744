"""Exports imported by Blender as a Python module.

The run is Y up, Blender Z up: (x, y, z) there must be (x, -z, y) here, in world space,
after whatever turn the importer gave the object.
"""

import contextlib
import io
import os
import sys

import bpy
import numpy as np

from common import Truth, check, check_positions, check_values, end, guarded

truth = Truth(sys.argv[1])
SCENE = "five_bodies"


def fresh(fps=truth.fps):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = int(fps)


@contextlib.contextmanager
def quiet():
    """Importers talk on the file descriptor, past sys.stdout."""
    sys.stdout.flush()
    kept, sink = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(sink)


def imported(operator, **options):
    """The objects that an importer adds."""
    before = set(bpy.data.objects)
    with quiet():
        operator(**options)
    return [thing for thing in bpy.data.objects if thing not in before]


def upright(positions):
    return np.stack([positions[:, 0], -positions[:, 2], positions[:, 1]], axis=1)


def world_positions(thing, frame):
    """Vertices in world space at a scene frame, after all modifiers and shape keys."""
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    graph = bpy.context.evaluated_depsgraph_get()
    there = thing.evaluated_get(graph)
    data = there.data
    points = data.attributes["position"].data if thing.type == "CURVES" else data.vertices
    flat = np.empty(3 * len(points), dtype=np.float32)
    points.foreach_get("vector" if thing.type == "CURVES" else "co", flat)
    turn = np.array(there.matrix_world, dtype=np.float64)
    return flat.reshape(-1, 3).astype(np.float64) @ turn[:3, :3].T + turn[:3, 3]


def check_frames(what, thing, body, order=None, frames=None):
    for frame in frames or truth.checked:
        expected = truth.positions(body, frame)
        expected = expected if order is None else expected[order]
        found = world_positions(thing, frame)
        check_positions(f"{what} frame {frame}", found, upright(expected), truth.size)


def check_surface(what, thing, body, split=False):
    """Triangles, texture coordinates and materials; `split` where seams may double vertices."""
    mesh = thing.data
    if not split:
        faces = [list(polygon.vertices) for polygon in mesh.polygons]
        check(f"{what} faces", faces == body["triangles"])
    if body["corner_uvs"]:
        found = [[list(mesh.uv_layers[0].uv[corner].vector) for corner in polygon.loop_indices]
                 for polygon in mesh.polygons]
        check_values(f"{what} texture coordinates", found, body["corner_uvs"])
    if body["materials"]:
        plain = lambda name: name.replace(" ", "_")
        of = [plain(mesh.materials[polygon.material_index].name) for polygon in mesh.polygons]
        right = [plain(body["materials"][m]["name"]) for m in body["triangle_materials"]]
        check(f"{what} materials", of == right)


def point_cache(ending):
    for body in truth.bodies:
        fresh()
        name = body["name"]
        (thing,) = imported(bpy.ops.wm.obj_import, filepath=f"{truth.folder}/{ending}/{name}.obj")
        modifier = thing.modifiers.new("cache", "MESH_CACHE")
        modifier.cache_format = ending.upper()
        modifier.filepath = f"{truth.folder}/{ending}/{name}.{ending}"
        modifier.frame_start = 0
        check_frames(f"{ending} blender {name}", thing, body)


def rest_and_cache_of_the_run():
    """The run folder itself, without any export."""
    for body in truth.bodies:
        fresh()
        name = body["name"]
        (thing,) = imported(bpy.ops.wm.obj_import, filepath=f"{truth.folder}/run/rest/{name}.obj")
        modifier = thing.modifiers.new("cache", "MESH_CACHE")
        modifier.cache_format = "PC2"
        modifier.filepath = f"{truth.folder}/run/cache/{name}.pc2"
        modifier.frame_start = 0
        check_frames(f"run folder blender {name}", thing, body)


def obj_sequence():
    for body in truth.bodies:
        name = body["name"]
        for frame in truth.checked:
            fresh()
            path = f"{truth.folder}/obj/{name}/{name}.{frame:04}.obj"
            (thing,) = imported(bpy.ops.wm.obj_import, filepath=path)
            check_frames(f"obj blender {name}", thing, body, frames=[frame])
        if body["triangles"]:
            check_surface(f"obj blender {name}", thing, body)


def ply_sequence():
    for body in truth.bodies:
        name = body["name"]
        for frame in truth.checked:
            fresh()
            path = f"{truth.folder}/ply/{name}/{name}.{frame:04}.ply"
            # PLY says nothing of axes: the user does.
            axes = {"forward_axis": "NEGATIVE_Z", "up_axis": "Y"}
            (thing,) = imported(bpy.ops.wm.ply_import, filepath=path, **axes)
            check_frames(f"ply blender {name}", thing, body, frames=[frame])


def glb():
    fresh()
    path = f"{truth.folder}/glb/{SCENE}.glb"
    things = {thing.name: thing for thing in imported(bpy.ops.import_scene.gltf, filepath=path)}
    for body in truth.bodies:
        thing = things[body["name"]]
        what = f"glb blender {body['name']}"
        for frame in truth.checked:
            found, expected = world_positions(thing, frame), upright(truth.positions(body, frame))
            if len(body["materials"]) > 1:
                # Blender takes the vertices of every primitive anew: go by the corners.
                corners = [corner for polygon in thing.data.polygons for corner in polygon.vertices]
                found, expected = found[corners], expected[np.ravel(body["triangles"])]
            # Further vertices of a seam come after all others.
            check_positions(f"{what} frame {frame}", found[: len(expected)], expected, truth.size)
        if body["triangles"]:
            check_surface(what, thing, body, split=True)


def reduced_glb():
    """Straight lines between fewer keyframes: within the error that the export states."""
    about = truth.all["reduced"]
    fresh(about["fps"])
    (thing,) = imported(bpy.ops.import_scene.gltf, filepath=f"{truth.folder}/small-glb/scene.glb")
    check("glb reduced size", about["bytes"] <= 50_000_000, f"{about['bytes']} bytes")
    keys = len(thing.data.shape_keys.key_blocks)
    for entry in about["checked"]:
        expected = upright(np.array(entry["positions"]))
        off = float(np.linalg.norm(world_positions(thing, entry["frame"]) - expected, axis=1).max())
        detail = f"{off:.1e} m off, {about['error']:.1e} m stated, {keys} of 300 frames"
        check(f"glb reduced frame {entry['frame']}", off <= about["error"] * 1.01 + 1e-6, detail)


def usd(ending):
    fresh()
    path = f"{truth.folder}/{ending}/{SCENE}.{ending}"
    things = {thing.name: thing for thing in imported(bpy.ops.wm.usd_import, filepath=path)}
    scene = bpy.context.scene
    check(f"{ending} blender frame range", (scene.frame_start, scene.frame_end) == (0, 24))
    for body in truth.bodies:
        what, thing = f"{ending} blender {body['name']}", things[body["name"]]
        check_frames(what, thing, body, None if body["triangles"] else truth.line_order(body))
        if body["triangles"]:
            check_surface(what, thing, body)


guarded("run folder", rest_and_cache_of_the_run)
for ending in ["pc2", "mdd"]:
    guarded(ending, lambda: point_cache(ending))
guarded("obj", obj_sequence)
guarded("ply", ply_sequence)
guarded("glb", glb)
guarded("glb reduced", reduced_glb)
for ending in ["usda", "usdc"]:
    guarded(ending, lambda: usd(ending))
end()
