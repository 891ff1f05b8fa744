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
SCENE = "six_bodies"


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
    """Triangles, texture coordinates and materials; `split` where vertices may be doubled at
    seams and triangles come a material after the other."""
    mesh = thing.data
    materials = body["triangle_materials"] or [0] * len(body["triangles"])
    order = sorted(range(len(materials)), key=lambda t: materials[t]) if split else range(len(materials))
    if not split:
        faces = [list(polygon.vertices) for polygon in mesh.polygons]
        check(f"{what} faces", faces == body["triangles"])
    if body["corner_uvs"]:
        found = [[list(mesh.uv_layers[0].uv[corner].vector) for corner in polygon.loop_indices]
                 for polygon in mesh.polygons]
        check_values(f"{what} texture coordinates", found, [body["corner_uvs"][t] for t in order])
    if body["materials"]:
        of = [plain(mesh.materials[polygon.material_index].name) for polygon in mesh.polygons]
        right = [plain(body["materials"][materials[t]]["name"]) for t in order]
        check(f"{what} materials", of == right)


def plain(name):
    """As it is where a format takes letters, digits and underscores only."""
    return "".join(c if c.isalnum() else "_" for c in name)


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


def original_numbers(thing):
    """Vertex of the mesh that each stands for, where the file says so: glTF doubles vertices
    at seams, and Blender takes those of every primitive anew and drops those of no triangle."""
    attribute = thing.data.attributes.get("_ORIGINAL_VERTEX")
    if attribute is None:
        return None
    numbers = np.empty(len(attribute.data), dtype=np.float32)
    attribute.data.foreach_get("value", numbers)
    return numbers.astype(int)


def corner_set(thing, numbers=None):
    """Vertex, texture coordinate and material of every corner, however polygons are cut."""
    mesh, found = thing.data, set()
    for polygon in mesh.polygons:
        for corner, vertex in zip(polygon.loop_indices, polygon.vertices):
            uv = mesh.uv_layers[0].uv[corner].vector
            number = vertex if numbers is None else int(numbers[vertex])
            found.add((number, round(uv[0], 4), round(uv[1], 4), mesh.materials[polygon.material_index].name))
    return found


def like_the_source():
    """An imported mesh comes out of every format as Blender reads it from its own file."""
    fresh()
    (thing,) = imported(bpy.ops.wm.obj_import, filepath=f"{truth.folder}/source/roof.obj")
    (body,) = [body for body in truth.bodies if body["name"] == "imported"]
    start = 0.5 * world_positions(thing, 0) + upright(np.array([[1.5, 1.0, 2.0]]))
    corners = corner_set(thing)
    seams, materials = len({corner[:3] for corner in corners}), len({corner[3] for corner in corners})
    check("source has a seam and two materials", seams > len(start) and materials == 2)
    sequence, whole = "imported/imported.0000.obj", f"{SCENE}."
    for ending, name, operator in [
        ("pc2", "imported.obj", bpy.ops.wm.obj_import),
        ("mdd", "imported.obj", bpy.ops.wm.obj_import),
        ("obj", sequence, bpy.ops.wm.obj_import),
        ("glb", whole + "glb", bpy.ops.import_scene.gltf),
        ("usda", whole + "usda", bpy.ops.wm.usd_import),
        ("usdc", whole + "usdc", bpy.ops.wm.usd_import),
    ]:
        fresh()
        things = imported(operator, filepath=f"{truth.folder}/{ending}/{name}")
        (thing,) = [thing for thing in things if thing.name.split(".")[0] == "imported"]
        numbers = original_numbers(thing)
        what = f"{ending} blender source"
        if ending in ["pc2", "mdd"]:
            modifier = thing.modifiers.new("cache", "MESH_CACHE")
            modifier.cache_format = ending.upper()
            modifier.filepath = f"{truth.folder}/{ending}/imported.{ending}"
            modifier.frame_start = 0
        expected = start if numbers is None else start[numbers]
        check(f"{what} doubles vertices only as GLB", (numbers is not None) == (ending == "glb"))
        check_positions(f"{what} vertices in order", world_positions(thing, 0), expected, truth.size)
        found = corner_set(thing, numbers)
        right = corners if not ending.startswith("usd") else {(*corner, plain(name)) for *corner, name in corners}
        same = found == right
        check(f"{what} texture coordinates and materials", same, "" if same else str(found ^ right))


def glb():
    fresh()
    path = f"{truth.folder}/glb/{SCENE}.glb"
    things = {thing.name: thing for thing in imported(bpy.ops.import_scene.gltf, filepath=path)}
    for body in truth.bodies:
        thing = things[body["name"]]
        what = f"glb blender {body['name']}"
        numbers = original_numbers(thing)
        if numbers is not None:
            drawn = set(np.ravel(body["triangles"]).tolist())
            check(f"{what} has every vertex that is drawn", set(numbers.tolist()) == drawn)
        for frame in truth.checked:
            expected = upright(truth.positions(body, frame))
            expected = expected if numbers is None else expected[numbers]
            check_positions(f"{what} frame {frame}", world_positions(thing, frame), expected, truth.size)
        if body["triangles"]:
            check_surface(what, thing, body, split=True)


def jelly_glb():
    """A rigged character of jelly: the vertices and materials of its file, and its motion."""
    body = truth.all["jelly"]
    fresh()
    (thing,) = imported(bpy.ops.import_scene.gltf, filepath=f"{truth.folder}/jelly/{body['name']}.glb")
    numbers = original_numbers(thing)
    # Without doubled vertices the numbers are those of the file.
    numbers = np.arange(len(thing.data.vertices)) if numbers is None else numbers
    found = len(set(numbers.tolist()))
    check("jelly vertices", found == body["vertices"], f"{found} of {body['vertices']}")
    names = [material["name"] for material in body["materials"]]
    used = {thing.data.materials[polygon.material_index].name for polygon in thing.data.polygons}
    check("jelly materials", used == {names[m] for m in body["triangle_materials"] or [0]}, f"{sorted(used)}")
    check_surface("jelly", thing, body, split=True)
    first, last = thing.data.shape_keys.animation_data.action.frame_range
    seconds = float(last - first) / truth.fps
    check("jelly duration", abs(seconds - body["seconds"]) < 1e-3, f"{seconds:.3f} s of {body['seconds']} s")
    for frame in body["checked"]:
        expected = upright(truth.positions(body, frame))
        size = float(np.linalg.norm(expected.max(axis=0) - expected.min(axis=0)))
        check_positions(f"jelly frame {frame}", world_positions(thing, frame), expected[numbers], size)
    moved = np.abs(truth.positions(body, body["checked"][-1]) - truth.positions(body, 0)).max()
    check("jelly moves", bool(moved > 0.01), f"{moved:.3f} m")


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
guarded("source", like_the_source)
guarded("glb reduced", reduced_glb)
guarded("jelly", jelly_glb)
for ending in ["usda", "usdc"]:
    guarded(ending, lambda: usd(ending))
end()
