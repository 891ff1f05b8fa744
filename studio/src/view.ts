// The picture: bodies, obstacles, marks, drawn in one or two panes with one camera.
import * as THREE from "three";
import type { BodyFrame, BodyModel, Frame, Model, Obstacle, State } from "./wire";

const COLOURS = [0x3f7fbf, 0xc9743a, 0x4f9d57, 0x9a62b5, 0xbfa13a, 0x3aa6a0];
/// Bodies with fewer nodes get smooth normals; larger ones are shaded by their faces.
const SMOOTH = 3000;

export interface Show { shaded: boolean; wireframe: boolean; lattice: boolean; stretch: boolean; contacts: boolean; velocities: boolean; path: boolean; strobe: boolean }

/// Sheets with more triangles move at half their fineness where the processor draws: in software a
/// triangle costs about a microsecond, and there are 15 pictures a second to make.
const FINE = 12000;

/// Every second node of an open grid of triangles, both ways; null where it is something else.
function coarse(model: BodyModel): THREE.BufferAttribute | null {
    const [nu, nv] = model.counts ?? [0, 0];
    if (model.dimension !== 2 || model.drawn || model.nodes !== nu! * nv! || model.triangles.length !== 6 * (nu! - 1) * (nv! - 1)) return null;
    const some = (n: number) => { const list: number[] = []; for (let i = 0; i < n - 1; i += 2) list.push(i); return [...list, n - 1]; };
    const us = some(nu!), vs = some(nv!), index: number[] = [];
    for (let j = 0; j + 1 < vs.length; j++) {
        for (let i = 0; i + 1 < us.length; i++) {
            const [a, b, c, d] = [us[i]! + nu! * vs[j]!, us[i + 1]! + nu! * vs[j]!, us[i]! + nu! * vs[j + 1]!, us[i + 1]! + nu! * vs[j + 1]!];
            index.push(a, b, d, a, d, c);
        }
    }
    return new THREE.BufferAttribute(new Uint32Array(index), 1);
}

/// Stretch from blue (pressed) over grey to red.
function heat(value: number, out: Float32Array, at: number): void {
    const s = Math.min(1, Math.abs(value) / 0.3);
    out[at] = 0.45 + 0.5 * s; out[at + 1] = 0.5 * (1 - s) + 0.12; out[at + 2] = 0.55 * (1 - s) + 0.05;
}

class BodyLook {
    readonly group = new THREE.Group();
    private readonly mesh: THREE.Mesh | null = null;
    private readonly tube: THREE.Mesh | null = null;
    private readonly lattice: THREE.LineSegments;
    private readonly nodes: THREE.BufferAttribute;
    private readonly drawn: THREE.BufferAttribute | null = null;
    private readonly colours: THREE.BufferAttribute;
    private readonly fill: THREE.MeshLambertMaterial;
    private readonly wire: THREE.MeshBasicMaterial;
    private readonly base: THREE.Color;
    private smooth = false;
    private fine: THREE.BufferAttribute | null = null;
    private coarse: THREE.BufferAttribute | null = null;

    constructor(private readonly model: BodyModel, number: number) {
        this.base = new THREE.Color(COLOURS[number % COLOURS.length]!);
        this.nodes = new THREE.BufferAttribute(new Float32Array(3 * model.nodes), 3).setUsage(THREE.DynamicDrawUsage);
        this.colours = new THREE.BufferAttribute(new Float32Array(3 * model.nodes), 3).setUsage(THREE.DynamicDrawUsage);
        const flat = model.nodes > SMOOTH || model.drawn !== null;
        this.fill = new THREE.MeshLambertMaterial({ color: this.base, side: THREE.DoubleSide, flatShading: flat, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
        this.wire = new THREE.MeshBasicMaterial({ color: this.base, wireframe: true });
        const triangles = model.drawn ?? model.triangles;
        if (triangles.length > 0) {
            const geometry = new THREE.BufferGeometry();
            this.fine = new THREE.BufferAttribute(triangles, 1);
            if (software() && triangles.length > 3 * FINE) this.coarse = coarse(model);
            geometry.setIndex(this.fine);
            if (model.drawn) {
                let most = 0;
                for (const v of triangles) most = Math.max(most, v);
                this.drawn = new THREE.BufferAttribute(new Float32Array(3 * (most + 1)), 3).setUsage(THREE.DynamicDrawUsage);
                geometry.setAttribute("position", this.drawn);
            } else {
                geometry.setAttribute("position", this.nodes);
                geometry.setAttribute("color", this.colours);
            }
            this.smooth = !flat;
            this.mesh = new THREE.Mesh(geometry, this.fill);
            this.mesh.frustumCulled = false;
            this.group.add(this.mesh);
        } else if (model.segments.length > 0) {
            const geometry = new THREE.BufferGeometry();
            const n = model.segments.length / 2, index: number[] = [];
            for (let s = 0; s < n; s++) {
                for (let k = 0; k < 6; k++) {
                    const a = 12 * s + k, b = 12 * s + (k + 1) % 6;
                    index.push(a, b, a + 6, b, b + 6, a + 6);
                }
            }
            geometry.setIndex(index);
            geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(36 * n), 3).setUsage(THREE.DynamicDrawUsage));
            geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(36 * n), 3).setUsage(THREE.DynamicDrawUsage));
            this.tube = new THREE.Mesh(geometry, this.fill);
            this.tube.frustumCulled = false;
            this.fill.flatShading = true;
            this.group.add(this.tube);
        }
        const links = model.links.length ? model.links : model.segments;
        const lines = new THREE.BufferGeometry();
        lines.setAttribute("position", this.nodes);
        lines.setIndex(new THREE.BufferAttribute(links, 1));
        this.lattice = new THREE.LineSegments(lines, new THREE.LineBasicMaterial({ color: this.base.clone().multiplyScalar(0.7) }));
        this.lattice.frustumCulled = false;
        this.group.add(this.lattice);
    }

    update(frame: BodyFrame, show: Show, size: number, moving: boolean): void {
        if (this.coarse) this.mesh?.geometry.setIndex(moving ? this.coarse : this.fine);
        (this.nodes.array as Float32Array).set(frame.positions);
        this.nodes.needsUpdate = true;
        if (this.drawn && frame.drawn.length === this.drawn.array.length) {
            (this.drawn.array as Float32Array).set(frame.drawn);
            this.drawn.needsUpdate = true;
        }
        const coloured = show.stretch && frame.stretch !== null && !this.model.drawn;
        if (this.fill.vertexColors !== coloured) {
            this.fill.vertexColors = coloured; this.fill.needsUpdate = true;
            this.wire.vertexColors = coloured; this.wire.needsUpdate = true;
        }
        this.fill.color.set(coloured ? 0xffffff : this.base);
        this.wire.color.set(coloured ? 0xffffff : this.base);
        if (coloured && frame.stretch) {
            const list = this.colours.array as Float32Array;
            frame.stretch.forEach((s, i) => heat(s, list, 3 * i));
            this.colours.needsUpdate = true;
        }
        const solid = this.mesh ?? this.tube;
        if (solid) {
            solid.visible = show.shaded || show.wireframe;
            solid.material = show.wireframe && !show.shaded ? this.wire : this.fill;
        }
        if (this.mesh && this.smooth && solid?.visible) this.mesh.geometry.computeVertexNormals();
        if (this.tube) this.updateTube(frame, coloured, size);
        this.lattice.visible = show.lattice || (show.wireframe && show.shaded) || !solid;
    }

    private updateTube(frame: BodyFrame, coloured: boolean, size: number): void {
        const tube = this.tube!;
        const place = tube.geometry.getAttribute("position") as THREE.BufferAttribute;
        const colour = tube.geometry.getAttribute("color") as THREE.BufferAttribute;
        const out = place.array as Float32Array, paint = colour.array as Float32Array;
        const radius = Math.max(this.model.radius, 0.0035 * size);
        const a = new THREE.Vector3(), b = new THREE.Vector3(), t = new THREE.Vector3(), u = new THREE.Vector3(), v = new THREE.Vector3();
        const segments = this.model.segments;
        for (let s = 0; s < segments.length / 2; s++) {
            a.fromArray(frame.positions, 3 * segments[2 * s]!);
            b.fromArray(frame.positions, 3 * segments[2 * s + 1]!);
            t.subVectors(b, a).normalize();
            u.set(Math.abs(t.y) < 0.9 ? 0 : 1, Math.abs(t.y) < 0.9 ? 1 : 0, 0).cross(t).normalize();
            v.crossVectors(t, u);
            for (let end = 0; end < 2; end++) {
                const p = end ? b : a;
                for (let k = 0; k < 6; k++) {
                    const c = radius * Math.cos(k * Math.PI / 3), d = radius * Math.sin(k * Math.PI / 3);
                    const at = 36 * s + 18 * end + 3 * k;
                    out[at] = p.x + c * u.x + d * v.x; out[at + 1] = p.y + c * u.y + d * v.y; out[at + 2] = p.z + c * u.z + d * v.z;
                    if (coloured && frame.stretch) heat(frame.stretch[segments[2 * s + end]!]!, paint, at);
                }
            }
        }
        place.needsUpdate = true; colour.needsUpdate = true;
        tube.geometry.computeVertexNormals();
    }

    /// A faint copy as it stands now.
    ghost(): THREE.Object3D {
        const from = this.tube ?? this.mesh ?? this.lattice;
        const geometry = from.geometry.clone();
        const material = new THREE.MeshBasicMaterial({ color: this.base, transparent: true, opacity: 0.25, depthWrite: false, side: THREE.DoubleSide });
        return new THREE.Mesh(geometry, material);
    }

    /// What of it is on the screen.
    shown(): { shaded: boolean; wireframe: boolean; lattice: boolean; coloured: boolean } {
        const solid = this.mesh ?? this.tube;
        return {
            shaded: solid !== null && solid.visible && solid.material === this.fill,
            wireframe: solid !== null && solid.visible && solid.material === this.wire,
            lattice: this.lattice.visible, coloured: this.fill.vertexColors,
        };
    }

    dispose(): void { this.group.traverse(o => (o as THREE.Mesh).geometry?.dispose()); }
}

function obstacleShape(o: Obstacle, planar: boolean): THREE.BufferGeometry {
    const s = o.sizes;
    switch (o.kind) {
        case "sphere": return new THREE.SphereGeometry(s.radius, 40, 24);
        case "ellipsoid": return new THREE.SphereGeometry(1, 40, 24).scale(s.radii[0], s.radii[1], s.radii[2]);
        case "torus": return new THREE.TorusGeometry(s.radius, s.tube, 24, 56).rotateX(Math.PI / 2);
        case "capsule": return new THREE.CapsuleGeometry(s.radius, s.length, 12, 28);
        case "box": return new THREE.BoxGeometry(s.size[0], s.size[1], s.size[2]);
        case "mesh": {
            const shape = new THREE.BufferGeometry();
            shape.setAttribute("position", new THREE.Float32BufferAttribute(s.positions, 3));
            shape.setIndex(s.triangles);
            shape.computeVertexNormals();
            return shape;
        }
        case "hyperboloid": {
            const profile = [new THREE.Vector2(0, -s.height / 2)];
            for (let k = 0; k <= 24; k++) {
                const y = s.height * (k / 24 - 0.5);
                profile.push(new THREE.Vector2(s.waist * Math.sqrt(1 + (y / s.slope) ** 2), y));
            }
            profile.push(new THREE.Vector2(0, s.height / 2));
            return new THREE.LatheGeometry(profile, 48);
        }
        // Seen from the front, a wall of a planar world is all that is behind it.
        default: return planar ? new THREE.BoxGeometry(12, 6, 0.01).translate(0, -3, -0.03) : new THREE.BoxGeometry(12, 0.02, 12).translate(0, -0.011, 0);
    }
}

class PaneLook {
    readonly scene = new THREE.Scene();
    readonly bodies: BodyLook[] = [];
    private readonly obstacles = new Map<string, THREE.Mesh>();
    private readonly marks = new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial({ size: 8, sizeAttenuation: false, vertexColors: true, depthTest: false, transparent: true }));
    private readonly arrows = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0x1f9e6e }));
    private readonly paths = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0xd0307a }));
    private readonly pointer = new THREE.ArrowHelper(new THREE.Vector3(1, 0, 0), new THREE.Vector3(), 1, 0xd0307a);
    private ghosts: THREE.Object3D[] = [];
    private trail: number[][] = [];
    private lastGhost = -1;

    private readonly planar: boolean;

    constructor(model: Model) {
        this.planar = model.plane !== null;
        this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8d939c, 1.5));
        const sun = new THREE.DirectionalLight(0xffffff, 2.2);
        sun.position.set(2, 4, 3);
        this.scene.add(sun, this.marks, this.arrows, this.paths, this.pointer);
        for (const o of [this.marks, this.arrows, this.paths]) o.frustumCulled = false;
        this.marks.renderOrder = 3;
        model.bodies.forEach((body, b) => {
            const look = new BodyLook(body, b);
            this.bodies.push(look);
            this.scene.add(look.group);
        });
        this.trail = model.bodies.map(() => []);
    }

    setObstacles(list: Obstacle[]): void {
        for (const [key, mesh] of this.obstacles) {
            if (!list.some((o, k) => key === `${k}${o.name}${JSON.stringify(o.sizes)}`)) {
                this.scene.remove(mesh); mesh.geometry.dispose(); this.obstacles.delete(key);
            }
        }
        list.forEach((o, k) => {
            const key = `${k}${o.name}${JSON.stringify(o.sizes)}`;
            if (this.obstacles.has(key)) return;
            const plane = o.kind === "plane";
            const material = new THREE.MeshLambertMaterial({ color: plane ? 0xb9bdb4 : 0x9aa0a8, side: o.kind === "mesh" ? THREE.DoubleSide : o.hollow ? THREE.BackSide : THREE.FrontSide, transparent: (plane && !this.planar) || o.hollow, opacity: plane && !this.planar ? 0.75 : o.hollow ? 0.3 : 1 });
            const mesh = new THREE.Mesh(obstacleShape(o, this.planar), material);
            mesh.userData.number = k;
            this.obstacles.set(key, mesh);
            this.scene.add(mesh);
        });
    }

    update(frame: Frame, number: number, show: Show, size: number, selected: Set<number>, body: number): void {
        const pane = frame.panes[number]!;
        pane.bodies.forEach((b, k) => this.bodies[k]?.update(b, show, size, frame.playing));
        for (const mesh of this.obstacles.values()) {
            const k = 8 * mesh.userData.number;
            mesh.visible = pane.present[k] === 1;
            if (!mesh.visible) continue;
            const o = pane.obstacles;
            mesh.position.set(o[k + 1]!, o[k + 2]!, o[k + 3]!);
            mesh.quaternion.set(o[k + 4]!, o[k + 5]!, o[k + 6]!, o[k + 7]!);
        }
        const places: number[] = [], colours: number[] = [];
        const mark = (b: number, node: number, r: number, g: number, blue: number) => {
            const p = pane.bodies[b]!.positions;
            places.push(p[3 * node]!, p[3 * node + 1]!, p[3 * node + 2]!);
            colours.push(r, g, blue);
        };
        this.contactCount = show.contacts ? pane.contacts.length / 2 : 0;
        if (show.contacts) for (let k = 0; k < pane.contacts.length; k += 2) mark(pane.contacts[k]!, pane.contacts[k + 1]!, 0.95, 0.55, 0.1);
        pane.bodies.forEach((b, k) => {
            b.pinned.forEach(n => mark(k, n, 0.8, 0.1, 0.12));
            b.sprung.forEach(n => mark(k, n, 0.1, 0.3, 0.95));
        });
        selected.forEach(n => { if (pane.bodies[body] && 3 * n < pane.bodies[body].positions.length) mark(body, n, 0.98, 0.85, 0.1); });
        setPoints(this.marks.geometry, places, colours);
        const arrows: number[] = [];
        if (show.velocities) pane.bodies.forEach(b => {
            if (!b.velocities) return;
            const stride = Math.max(1, Math.ceil(b.positions.length / 3 / 1500));
            for (let i = 0; i < b.positions.length / 3; i += stride) {
                const [x, y, z] = [b.positions[3 * i]!, b.positions[3 * i + 1]!, b.positions[3 * i + 2]!];
                arrows.push(x, y, z, x + 0.1 * b.velocities[3 * i]!, y + 0.1 * b.velocities[3 * i + 1]!, z + 0.1 * b.velocities[3 * i + 2]!);
            }
        });
        setPoints(this.arrows.geometry, arrows, null);
        this.updatePath(frame, pane.bodies, show, body);
        this.updateStrobe(frame, show);
    }

    private updatePath(frame: Frame, bodies: BodyFrame[], show: Show, body: number): void {
        const lines: number[] = [];
        bodies.forEach((b, k) => {
            const trail = this.trail[k]!;
            if (frame.playing) trail.push(b.center[0]!, b.center[1]!, b.center[2]!);
            if (trail.length > 6000) trail.splice(0, 300);
            for (let i = 0; show.path && i + 5 < trail.length; i += 3) lines.push(...trail.slice(i, i + 6));
        });
        setPoints(this.paths.geometry, lines, null);
        const chosen = bodies[body] ?? bodies[0];
        this.pointer.visible = show.path && chosen !== undefined;
        if (chosen && show.path) {
            const v = new THREE.Vector3().fromArray(chosen.centerVelocity);
            const length = v.length();
            this.pointer.visible = length > 1e-3;
            this.pointer.position.fromArray(chosen.center);
            this.pointer.setDirection(v.normalize());
            this.pointer.setLength(Math.max(0.02, 0.2 * length), 0.05, 0.03);
        }
    }

    private updateStrobe(frame: Frame, show: Show): void {
        if (!show.strobe || frame.time < this.lastGhost) this.clearGhosts();
        if (!show.strobe || !frame.playing || frame.time < this.lastGhost + 0.25) return;
        this.lastGhost = frame.time;
        for (const body of this.bodies) { const ghost = body.ghost(); this.ghosts.push(ghost); this.scene.add(ghost); }
        while (this.ghosts.length > 24 * this.bodies.length) this.drop(this.ghosts.shift()!);
    }

    private drop(ghost: THREE.Object3D): void { this.scene.remove(ghost); (ghost as THREE.Mesh).geometry.dispose(); }
    private clearGhosts(): void { this.ghosts.forEach(g => this.drop(g)); this.ghosts = []; this.lastGhost = -1; }
    ghostCount(): number { return this.ghosts.length; }
    trailLength(): number { return this.trail[0]?.length ?? 0; }
    arrowCount(): number { return this.arrows.geometry.drawRange.count / 2; }
    pathCount(): number { return this.paths.geometry.drawRange.count / 2; }
    pointsTheWay(): boolean { return this.pointer.visible; }
    contactCount = 0;

    /// The obstacle that a ray meets first, where, and what is up for it.
    meet(ray: THREE.Raycaster): { number: number; point: number[]; up: number[] } | null {
        const list = [...this.obstacles.values()].filter(o => o.visible);
        const hit = ray.intersectObjects(list, false)[0];
        return hit ? { number: hit.object.userData.number, point: hit.point.toArray(), up: new THREE.Vector3(0, 1, 0).applyQuaternion(hit.object.quaternion).toArray() } : null;
    }
    forget(): void { this.trail.forEach(t => { t.length = 0; }); this.clearGhosts(); }
    dispose(): void { this.clearGhosts(); this.bodies.forEach(b => b.dispose()); this.obstacles.forEach(o => o.geometry.dispose()); }
}

function setPoints(geometry: THREE.BufferGeometry, places: number[], colours: number[] | null): void {
    const old = geometry.getAttribute("position") as THREE.BufferAttribute | undefined;
    if (!old || old.array.length < places.length) {
        const room = Math.max(48, 2 * places.length);
        geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(room), 3).setUsage(THREE.DynamicDrawUsage));
        if (colours) geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(room), 3).setUsage(THREE.DynamicDrawUsage));
    }
    const attribute = geometry.getAttribute("position") as THREE.BufferAttribute;
    (attribute.array as Float32Array).set(places);
    attribute.needsUpdate = true;
    if (colours) {
        const paint = geometry.getAttribute("color") as THREE.BufferAttribute;
        (paint.array as Float32Array).set(colours);
        paint.needsUpdate = true;
    }
    geometry.setDrawRange(0, places.length / 3);
}

export class View {
    readonly show: Show = { shaded: true, wireframe: false, lattice: false, stretch: false, contacts: true, velocities: false, path: false, strobe: false };
    readonly selected = new Set<number>();
    body = 0;
    private readonly renderer: THREE.WebGLRenderer;
    private readonly camera = new THREE.PerspectiveCamera(39.6, 1, 0.01, 500);
    private panes: PaneLook[] = [];
    private model: Model | null = null;
    private frame: Frame | null = null;
    private state: State | null = null;
    private target = new THREE.Vector3();
    private yaw = 0.5; private pitch = 0.35; private distance = 3; private size = 1;
    private stale = true;
    private framed = "";
    drawn = 0;
    /// Called with the number of every frame once it is drawn.
    onDrawn: (sequence: number) => void = () => {};
    private told = -1;

    constructor(private readonly canvas: HTMLCanvasElement) {
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !software(), powerPreference: "high-performance" });
        this.renderer.autoClear = false;
        const ratio = software() ? 1 : Math.min(2, devicePixelRatio);
        new ResizeObserver(() => {
            this.renderer.setPixelRatio(ratio);
            this.renderer.setSize(canvas.clientWidth, canvas.clientHeight, false);
            this.stale = true;
        }).observe(canvas);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.stale = true; });
        const loop = () => { requestAnimationFrame(loop); if (this.stale) this.draw(); };
        requestAnimationFrame(loop);
    }

    setModel(model: Model): void {
        this.panes.forEach(p => p.dispose());
        this.panes = [];
        const bodies = (m: Model | null) => JSON.stringify(m?.bodies.map(b => [b.name, b.nodes]));
        if (bodies(this.model) !== bodies(model)) this.selected.clear();
        this.model = model;
        // A frame that came too early for its picture is done with as well.
        if (this.frame) this.onDrawn(this.frame.sequence);
        this.frame = null;
    }

    setState(state: State): void {
        this.state = state;
        this.panes.forEach(p => p.setObstacles(state.obstacles));
        this.frameNew();
        this.stale = true;
    }

    setFrame(frame: Frame): void {
        if (!this.model || frame.version !== this.model.version) { this.onDrawn(frame.sequence); return; }
        while (this.panes.length > frame.panes.length) this.panes.pop()!.dispose();
        while (this.panes.length < frame.panes.length) {
            const pane = new PaneLook(this.model);
            if (this.state) pane.setObstacles(this.state.obstacles);
            this.panes.push(pane);
        }
        this.frame = frame;
        this.frameNew();
        this.stale = true;
    }

    touch(): void { this.stale = true; }
    forget(): void { this.panes.forEach(p => p.forget()); }
    ghosts(): number { return this.panes[0]?.ghostCount() ?? 0; }
    trail(): number { return this.panes[0]?.trailLength() ?? 0; }
    /// The newest frame is on the screen, from where its camera stands.
    settled(): boolean { return this.frame !== null && !this.stale && this.frame.sequence === this.told && this.framed === this.state?.scene; }
    /// What is on the screen, counted: for tests.
    shown(): object {
        const pane = this.panes[0];
        return {
            ...pane?.bodies[0]?.shown(), arrows: pane?.arrowCount(), contacts: pane?.contactCount, path: pane?.pathCount(),
            ghosts: pane?.ghostCount(), pointer: pane?.pointsTheWay(), sequence: this.told,
        };
    }
    /// Looks at another scene from its own camera, once both its state and its frame are here.
    private frameNew(): void {
        if (!this.state || !this.frame || this.state.version !== this.frame.version || this.framed === this.state.scene) return;
        this.framed = this.state.scene;
        this.frameAll();
    }

    private frameAll(): void {
        const box = new THREE.Box3(), p = new THREE.Vector3();
        for (const body of this.frame!.panes[0]!.bodies) for (let i = 0; i < body.positions.length; i += 3) box.expandByPoint(p.fromArray(body.positions, i));
        if (box.isEmpty()) box.setFromCenterAndSize(p.set(0, 0.5, 0), new THREE.Vector3(1, 1, 1));
        this.size = Math.max(0.05, box.getSize(p).length());
        box.getCenter(this.target);
        const given = this.model!.camera;
        this.distance = 1.9 * this.size;
        [this.yaw, this.pitch] = this.model!.plane === 2 ? [0, 0] : [0.5, 0.3];
        if (given) {
            const eye = new THREE.Vector3().fromArray(given.position);
            this.target.fromArray(given.lookAt);
            const back = eye.sub(this.target);
            this.distance = back.length();
            this.yaw = Math.atan2(back.x, back.z);
            this.pitch = Math.asin(back.y / this.distance);
        }
    }

    orbit(dx: number, dy: number): void {
        this.yaw -= 0.008 * dx;
        this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + 0.008 * dy));
        this.stale = true;
    }

    pan(dx: number, dy: number): void {
        const scale = this.distance * 0.72 / this.canvas.clientHeight;
        const right = new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0), up = new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1);
        this.target.addScaledVector(right, -dx * scale).addScaledVector(up, dy * scale);
        this.stale = true;
    }

    zoom(by: number): void { this.distance = Math.max(0.02, Math.min(400, this.distance * Math.exp(by))); this.stale = true; }
    angles(): number[] { return [this.yaw, this.pitch, this.distance]; }

    private place(): void {
        const c = Math.cos(this.pitch);
        this.camera.position.set(Math.sin(this.yaw) * c, Math.sin(this.pitch), Math.cos(this.yaw) * c).multiplyScalar(this.distance).add(this.target);
        this.camera.near = this.distance / 200; this.camera.far = this.distance * 50;
        this.camera.lookAt(this.target);
        this.camera.aspect = this.canvas.clientWidth / Math.max(1, this.panes.length) / this.canvas.clientHeight;
        this.camera.updateProjectionMatrix();
        this.camera.updateMatrixWorld();
    }

    private draw(): void {
        this.stale = false;
        // Between two models the last picture stays.
        if (!this.frame && this.drawn > 0) return;
        const { clientWidth: w, clientHeight: h } = this.canvas;
        const back = getComputedStyle(document.documentElement).getPropertyValue("--stage").trim() || "#ddd";
        this.renderer.setClearColor(back, 1);
        this.renderer.setScissorTest(false);
        this.renderer.setViewport(0, 0, w, h);
        this.renderer.clear();
        if (!this.frame) return;
        this.place();
        const wide = w / this.panes.length;
        this.renderer.setScissorTest(true);
        this.panes.forEach((pane, k) => {
            pane.update(this.frame!, k, this.show, this.size, this.selected, this.body);
            this.renderer.setViewport(k * wide, 0, wide, h);
            this.renderer.setScissor(k * wide, 0, wide, h);
            this.renderer.render(pane.scene, this.camera);
        });
        this.drawn++;
        if (this.frame.sequence !== this.told) { this.told = this.frame.sequence; this.onDrawn(this.told); }
    }

    /// Where the mouse is in its pane, -1 to 1, and which pane.
    private inPane(x: number, y: number): { at: THREE.Vector2; pane: number } {
        const box = this.canvas.getBoundingClientRect();
        const wide = box.width / Math.max(1, this.panes.length);
        const pane = Math.min(Math.max(0, this.panes.length - 1), Math.max(0, Math.floor((x - box.left) / wide)));
        return { at: new THREE.Vector2(2 * (x - box.left - pane * wide) / wide - 1, 1 - 2 * (y - box.top) / box.height), pane };
    }

    /// Pixels of a node in the window.
    pixel(body: number, node: number, pane = 0): { x: number; y: number } | null {
        const p = this.frame?.panes[pane]?.bodies[body]?.positions;
        if (!p) return null;
        this.place();
        return this.toWindow(new THREE.Vector3().fromArray(p, 3 * node), pane);
    }

    private toWindow(point: THREE.Vector3, pane: number): { x: number; y: number } {
        const box = this.canvas.getBoundingClientRect(), wide = box.width / this.panes.length;
        point.project(this.camera);
        return { x: box.left + wide * (pane + 0.5 * (point.x + 1)), y: box.top + 0.5 * box.height * (1 - point.y) };
    }

    /// The node under the mouse: within a few pixels, the nearest to the eye of those.
    pick(x: number, y: number): { body: number; node: number } | null {
        if (!this.frame) return null;
        this.place();
        const { at, pane } = this.inPane(x, y);
        const box = this.canvas.getBoundingClientRect(), wide = box.width / this.panes.length;
        const matrix = new THREE.Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse);
        const v = new THREE.Vector3();
        let best: { body: number; node: number } | null = null, score = Infinity;
        this.frame.panes[pane]!.bodies.forEach((b, body) => {
            for (let i = 0; i < b.positions.length / 3; i++) {
                v.fromArray(b.positions, 3 * i).applyMatrix4(matrix);
                if (v.z > 1 || v.z < -1) continue;
                const d = Math.hypot((v.x - at.x) * wide / 2, (v.y - at.y) * box.height / 2);
                const s = d + 200 * v.z;
                if (d < 16 && s < score) { score = s; best = { body, node: i }; }
            }
        });
        return best;
    }

    /// The obstacle under the mouse, the point of it, and for a plane its normal.
    pickObstacle(x: number, y: number): { obstacle: Obstacle; point: number[]; normal: number[] | null } | null {
        this.place();
        const { at, pane } = this.inPane(x, y);
        const ray = new THREE.Raycaster();
        ray.setFromCamera(at, this.camera);
        const met = this.panes[pane]?.meet(ray), obstacle = met && this.state?.obstacles[met.number];
        return met && obstacle ? { obstacle, point: met.point, normal: obstacle.kind === "plane" ? met.up : null } : null;
    }

    /// Pixels of a point in the window.
    pointPixel(point: number[], pane = 0): { x: number; y: number } { this.place(); return this.toWindow(new THREE.Vector3().fromArray(point), pane); }

    /// Nodes of the chosen body in a rectangle of the window.
    within(x0: number, y0: number, x1: number, y1: number): number[] {
        const b = this.frame?.panes[0]?.bodies[this.body];
        if (!b) return [];
        this.place();
        const pane = this.inPane(0.5 * (x0 + x1), 0.5 * (y0 + y1)).pane;
        const positions = this.frame!.panes[pane]!.bodies[this.body]!.positions;
        const found: number[] = [];
        for (let i = 0; i < positions.length / 3; i++) {
            const p = this.toWindow(new THREE.Vector3().fromArray(positions, 3 * i), pane);
            if (p.x >= Math.min(x0, x1) && p.x <= Math.max(x0, x1) && p.y >= Math.min(y0, y1) && p.y <= Math.max(y0, y1)) found.push(i);
        }
        return found;
    }

    /// The point under the mouse in the plane through `through` that faces the eye.
    point(x: number, y: number, through: number[]): number[] {
        this.place();
        const { at } = this.inPane(x, y);
        const ray = new THREE.Raycaster();
        ray.setFromCamera(at, this.camera);
        const normal = this.model?.plane === 2 ? new THREE.Vector3(0, 0, 1) : this.camera.getWorldDirection(new THREE.Vector3());
        const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, new THREE.Vector3().fromArray(through));
        const hit = ray.ray.intersectPlane(plane, new THREE.Vector3());
        return hit ? hit.toArray() : through;
    }

    nodePlace(body: number, node: number): number[] {
        const p = this.frame!.panes[0]!.bodies[body]!.positions;
        return [p[3 * node]!, p[3 * node + 1]!, p[3 * node + 2]!];
    }
}

let soft: boolean | null = null;
/// Whether WebGL is done by the processor: then edges are not smoothed.
function software(): boolean {
    if (soft === null) {
        const gl = document.createElement("canvas").getContext("webgl2");
        const info = gl?.getExtension("WEBGL_debug_renderer_info");
        const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
        soft = /swiftshader|llvmpipe|software/i.test(name);
        gl?.getExtension("WEBGL_lose_context")?.loseContext();
    }
    return soft;
}
