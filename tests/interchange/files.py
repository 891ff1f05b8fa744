"""Exports read by independent readers: meshio (VTU), plyfile (PLY), usd-core (USD)."""

import struct
import sys
import xml.etree.ElementTree as ET

import meshio
import numpy as np
from plyfile import PlyData
from pxr import Usd, UsdGeom, UsdShade, UsdValidation

from common import Truth, check, check_positions, check_values, end, guarded

truth = Truth(sys.argv[1])
SCENE = "six_bodies"


def vtu(body, frame):
    name = body["name"]
    read = meshio.read(f"{truth.folder}/vtu/{name}/{name}.{frame:04}.vtu")
    what = f"vtu meshio {name} frame {frame}"
    check_positions(what, read.points, truth.positions(body, frame), truth.size)
    for data, name in [("velocity", "velocities"), ("stretch", "stretch")]:
        check_values(f"{what} {data}", read.point_data[data], truth.node_data(body, frame, name))
    cells = {block.type: block.data.tolist() for block in read.cells}
    kept = cells.get("triangle", []) == body["triangles"] and cells.get("line", []) == body["segments"]
    check(f"{what} cells", kept)
    if body["materials"]:
        check(f"{what} materials", read.cell_data["material"][0].tolist() == body["triangle_materials"])
    if "corner_uv" in read.cell_data:
        corners = read.cell_data["corner_uv"][0].reshape(-1, 3, 2)
        check_values(f"{what} texture coordinates of corners", corners, body["corner_uvs"])


def pvd():
    entries = ET.parse(f"{truth.folder}/vtu/{SCENE}.pvd").getroot().findall("Collection/DataSet")
    times = sorted({float(entry.get("timestep")) for entry in entries})
    check("pvd times", np.allclose(times, np.arange(25) / truth.fps), f"{len(times)} times, {len(entries)} files")
    for entry in entries:
        open(f"{truth.folder}/vtu/{entry.get('file')}").close()


def ply(body, frame):
    name = body["name"]
    read = PlyData.read(f"{truth.folder}/ply/{name}/{name}.{frame:04}.ply")
    vertex = read["vertex"]
    what = f"ply plyfile {name} frame {frame}"
    check_positions(what, np.stack([vertex[axis] for axis in "xyz"], axis=1), truth.positions(body, frame), truth.size)
    velocity = np.stack([vertex[axis] for axis in ["vx", "vy", "vz"]], axis=1)
    check_values(f"{what} velocity", velocity, truth.node_data(body, frame, "velocities"))
    check_values(f"{what} stretch", vertex["stretch"], truth.node_data(body, frame, "stretch"))
    faces = [list(face) for face in read["face"]["vertex_indices"]] if "face" in read else []
    edges = [[int(a), int(b)] for a, b in read["edge"].data] if "edge" in read else []
    check(f"{what} cells", faces == body["triangles"] and edges == body["segments"])
    if body["materials"]:
        named = [comment.split(" ", 2)[2] for comment in read.comments if comment.startswith("material ")]
        right = named == [material["name"] for material in body["materials"]]
        check(f"{what} materials", right and read["face"]["material_index"].tolist() == body["triangle_materials"])
    if "face" in read and "texcoord" in [p.name for p in read["face"].properties]:
        corners = np.stack(list(read["face"]["texcoord"])).reshape(-1, 3, 2)
        check_values(f"{what} texture coordinates of corners", corners, body["corner_uvs"])


def caches(body):
    """PC2 and MDD by their definitions alone."""
    name, count = body["name"], body["vertices"]
    pc2 = open(f"{truth.folder}/pc2/{name}.pc2", "rb").read()
    magic, version, points, start, rate, samples = struct.unpack("<12siiffi", pc2[:32])
    right = (magic, version, points, start, rate, samples) == (b"POINTCACHE2\0", 1, count, 0.0, 1.0, 25)
    check(f"pc2 struct {name} header", right)
    positions = np.frombuffer(pc2[32:], "<f4").reshape(samples, points, 3)
    mdd = open(f"{truth.folder}/mdd/{name}.mdd", "rb").read()
    check(f"mdd struct {name} header", struct.unpack(">ii", mdd[:8]) == (25, count))
    check_values(f"mdd struct {name} times", np.frombuffer(mdd[8:108], ">f4"), np.arange(25) / truth.fps, 1e-6)
    other = np.frombuffer(mdd[108:], ">f4").reshape(25, count, 3)
    for frame in truth.checked:
        check_positions(f"pc2 struct {name} frame {frame}", positions[frame], truth.positions(body, frame), truth.size)
        check_positions(f"mdd struct {name} frame {frame}", other[frame], truth.positions(body, frame), truth.size)
    in_run = open(f"{truth.folder}/run/cache/{name}.pc2", "rb").read()
    check(f"pc2 struct {name} in the run folder is the same", in_run == pc2)


def usd(ending):
    stage = Usd.Stage.Open(f"{truth.folder}/{ending}/{SCENE}.{ending}")
    axis, unit = UsdGeom.GetStageUpAxis(stage), UsdGeom.GetStageMetersPerUnit(stage)
    check(f"{ending} usd-core axis and unit", (axis, unit) == ("Y", 1.0), f"{axis} up, {unit} m")
    times = (stage.GetStartTimeCode(), stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond())
    check(f"{ending} usd-core time codes", times == (0.0, 24.0, truth.fps), str(times))
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    faults = [fault.GetMessage() for fault in UsdValidation.ValidationContext(validators).Validate(stage)]
    check(f"{ending} usd-core validators", not faults and len(validators) > 10, "; ".join(faults))
    check(f"{ending} usd-core default prim", stage.GetDefaultPrim().GetPath() == "/World")
    for body in truth.bodies:
        prim = stage.GetPrimAtPath(f"/World/{body['name']}")
        order = list(range(body["vertices"])) if body["triangles"] else truth.line_order(body)
        shape = UsdGeom.PointBased(prim)
        for frame in truth.checked:
            what = f"{ending} usd-core {body['name']} frame {frame}"
            expected = truth.positions(body, frame)[order]
            check_positions(what, shape.GetPointsAttr().Get(frame), expected, truth.size)
            box = np.stack([expected.min(axis=0), expected.max(axis=0)])
            check_positions(f"{what} extent", shape.GetExtentAttr().Get(frame), box, truth.size)
        if body["triangles"]:
            usd_mesh(f"{ending} usd-core {body['name']}", body, UsdGeom.Mesh(prim))
        else:
            curves = UsdGeom.BasisCurves(prim)
            wrap = "nonperiodic" if len(body["segments"]) == body["vertices"] - 1 else "periodic"
            right = list(curves.GetCurveVertexCountsAttr().Get()) == [len(order)] and curves.GetWrapAttr().Get() == wrap
            check(f"{ending} usd-core {body['name']} curve", right)


def usd_mesh(what, body, mesh):
    indices = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
    check(f"{what} faces", indices.tolist() == body["triangles"])
    check(f"{what} is valid", UsdGeom.Mesh.ValidateTopology(
        mesh.GetFaceVertexIndicesAttr().Get(), mesh.GetFaceVertexCountsAttr().Get(), body["vertices"])[0])
    if body["corner_uvs"]:
        primvar = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
        values = np.array(primvar.ComputeFlattened())
        corners = values[indices] if primvar.GetInterpolation() == "vertex" else values.reshape(-1, 3, 2)
        check_values(f"{what} texture coordinates", corners, body["corner_uvs"])
    for m, material in enumerate(body["materials"]):
        subset = UsdGeom.Subset(mesh.GetPrim().GetChild(f"part{m}"))
        faces = [t for t, of in enumerate(body["triangle_materials"]) if of == m]
        bound, _ = UsdShade.MaterialBindingAPI(subset.GetPrim()).ComputeBoundMaterial()
        shader, _, _ = bound.ComputeSurfaceSource()
        colour = list(shader.GetInput("diffuseColor").Get()) + [shader.GetInput("opacity").Get()]
        check(f"{what} material {m} faces", list(subset.GetIndicesAttr().Get()) == faces)
        check_values(f"{what} material {m} colour", colour, material["colour"])


for body in truth.bodies:
    guarded(f"caches {body['name']}", lambda: caches(body))
    for frame in truth.checked:
        guarded(f"vtu {body['name']} frame {frame}", lambda: vtu(body, frame))
        guarded(f"ply {body['name']} frame {frame}", lambda: ply(body, frame))
guarded("pvd", pvd)
for ending in ["usda", "usdc"]:
    guarded(ending, lambda: usd(ending))
end()
