// The wire: one WebSocket that comes back by itself, and the binary messages decoded.
// protocol.rs is the contract.

export interface BodyModel {
    name: string; nodes: number; dimension: number; radius: number; counts: number[] | null;
    triangles: Uint32Array; segments: Uint32Array; links: Uint32Array; coordinates: Float32Array;
    drawn: Uint32Array | null;
}
export interface Model {
    version: number; bodies: BodyModel[]; plane: number | null;
    camera: { position: number[]; lookAt: number[]; lens: number } | null;
}
export interface BodyFrame {
    positions: Float32Array; drawn: Float32Array; pinned: Uint32Array; sprung: Uint32Array;
    center: Float32Array; centerVelocity: Float32Array;
    velocities: Float32Array | null; stretch: Float32Array | null;
}
export interface Pane { bodies: BodyFrame[]; obstacles: Float32Array; present: Uint32Array; contacts: Uint32Array; failed: boolean }
export interface Frame {
    version: number; sequence: number; index: number; recorded: boolean; playing: boolean;
    time: number; speed: number; energies: number[]; panes: Pane[];
}
export interface Body {
    name: string; nodes: number; mass: number; formulation: string; integrator: string; extent: number;
    material: Record<string, number | null>; raw: boolean; pinned: number[];
}
export interface Obstacle { name: string; kind: string; sizes: any; hollow: boolean; position: number[]; removed: boolean }
export interface State {
    scene: string; title: string; playing: boolean; sim_time: number; frame: number; version: number; at_start: boolean;
    edited: boolean; speed: number; reached: number; failure: string | null; second_failure: string | null; compare: string | null;
    viewing: number | null; recorded: number; undo: string | null; redo: string | null; plane: number | null; dt: number; gravity: number[]; wind: number[];
    bodies: Body[]; obstacles: Obstacle[]; checks: string[]; warnings: string[]; scenes: [string, string][];
    formats: string[]; formulations: string[]; integrators: string[];
    record: { first: number; last: number; fps: number; bytes: number; limit: number };
}

function readModel(buffer: ArrayBuffer): Model {
    const head = new Uint32Array(buffer, 0, 4);
    const text = new TextDecoder().decode(new Uint8Array(buffer, 16, head[2]!));
    const json = JSON.parse(text);
    const start = 16 + Math.ceil(head[2]! / 4) * 4;
    const words = (at: [number, number]) => new Uint32Array(buffer, start + 4 * at[0], at[1]);
    for (const body of json.bodies) {
        const [o, n] = body.coordinates;
        body.coordinates = new Float32Array(buffer, start + 4 * o, n);
        for (const key of ["triangles", "segments", "links"]) body[key] = words(body[key]);
        body.drawn = body.drawn && words(body.drawn);
    }
    return { version: head[1]!, ...json };
}

function readFrame(buffer: ArrayBuffer): Frame {
    const head = new Uint32Array(buffer, 0, 6);
    const view = new DataView(buffer);
    const numbers = Array.from({ length: 10 }, (_, k) => view.getFloat64(24 + 8 * k, true));
    const flags = head[4]!;
    let at = 104;
    const floats = (n: number) => { const a = new Float32Array(buffer, at, n); at += 4 * n; return a; };
    const words = (n: number) => { const a = new Uint32Array(buffer, at, n); at += 4 * n; return a; };
    const panes: Pane[] = [];
    for (let p = 0; p < head[5]!; p++) {
        const [bodies, obstacles, contacts, failed] = words(4);
        const present = new Uint32Array(buffer, at, 8 * obstacles!);
        const poses = floats(8 * obstacles!);
        const touching = words(2 * contacts!);
        const list: BodyFrame[] = [];
        for (let b = 0; b < bodies!; b++) {
            const [n, m, pinned, sprung] = words(4);
            list.push({
                center: floats(3), centerVelocity: floats(3), positions: floats(3 * n!), drawn: floats(3 * m!),
                pinned: words(pinned!), sprung: words(sprung!),
                velocities: flags & 1 ? floats(3 * n!) : null, stretch: flags & 2 ? floats(n!) : null,
            });
        }
        panes.push({ bodies: list, obstacles: poses, present, contacts: touching, failed: failed! > 0 });
    }
    return {
        version: head[1]!, sequence: head[2]!, index: head[3]!, recorded: (flags & 4) > 0, playing: (flags & 8) > 0,
        time: numbers[0]!, speed: numbers[1]!, energies: numbers.slice(2), panes,
    };
}

export interface Listener {
    model(model: Model): void;
    frame(frame: Frame): void;
    state(state: State): void;
    say(sentence: string, bad: boolean): void;
    opened(): void;
}

export class Wire {
    private socket: WebSocket | null = null;
    private wait = 250;
    constructor(private readonly to: Listener) { this.connect(); }

    private connect(): void {
        const socket = new WebSocket(`ws://${location.host}/socket${location.search}`);
        socket.binaryType = "arraybuffer";
        socket.onopen = () => { this.wait = 250; this.to.say("", false); this.to.opened(); };
        socket.onmessage = event => {
            if (typeof event.data !== "string") {
                const kind = new Uint32Array(event.data, 0, 1)[0];
                if (kind === 1) this.to.frame(readFrame(event.data));
                else if (kind === 2) this.to.model(readModel(event.data));
                return;
            }
            const message = JSON.parse(event.data);
            if (message.state) this.to.state(message.state);
            if (message.error) this.to.say(message.error, true);
            if (message.notice) this.to.say(message.notice, false);
        };
        socket.onclose = () => {
            this.socket = null;
            this.to.say("The connection to the engine is lost; trying again …", true);
            setTimeout(() => this.connect(), this.wait);
            this.wait = Math.min(4000, this.wait * 1.6);
        };
        this.socket = socket;
    }

    send(command: Record<string, unknown>): void {
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
    }
}
