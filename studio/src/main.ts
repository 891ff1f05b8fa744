// The page: mouse, keys and buttons to commands; frames to the picture.
import { Grid } from "./grid";
import { $, Panel } from "./panel";
import { Plot } from "./plot";
import { View } from "./view";
import { Wire, type Frame, type Model, type State } from "./wire";

const canvas = document.getElementById("view") as HTMLCanvasElement;
const view = new View(canvas);
const plot = new Plot(document.getElementById("plot") as HTMLCanvasElement, $<HTMLElement>("legend"));
let model: Model | null = null, state: State | null = null, last: Frame | null = null;
let frames = 0, hold = 0;

const wire = new Wire({
    model(next) { model = next; plot.clear(); view.setModel(next); grid.setBody(next.bodies[panel.body] ?? null, panel.body); chosen(); },
    frame(frame) {
        frames++;
        if (last && frame.time < last.time - 1e-9 && !frame.recorded) view.forget();
        last = frame;
        view.setFrame(frame);
        grid.setFrame(frame);
        plot.add(frame);
        $<HTMLElement>("clock").textContent = `t = ${frame.time.toFixed(3)} s · frame ${frame.index}${frame.playing ? ` · ${frame.speed.toFixed(2)}× real` : ""}`;
    },
    state(next) { state = next; show(next); },
    say,
    opened() { wishes(); },
});
const send = (command: Record<string, unknown>) => wire.send(command);
view.onDrawn = sequence => send({ do: "drawn", sequence });
const grid = new Grid(document.getElementById("grid") as HTMLCanvasElement, $("slice"), $<HTMLElement>("slice-row"), view.selected,
    (body, node, held) => send({ do: held ? "unpin" : "pin", body, nodes: [node] }));
const panel = new Panel(send, body => { view.body = body; view.selected.clear(); grid.setBody(model?.bodies[body] ?? null, body); chosen(); });
panel.middle = body => Array.from(last?.panes[0]?.bodies[body]?.center ?? [0, 0, 0]);

let quiet = 0;
function say(sentence: string, bad: boolean): void {
    const box = $<HTMLElement>("message");
    box.textContent = sentence;
    box.className = bad ? "bad" : "";
    clearTimeout(quiet);
    if (sentence && !sentence.startsWith("The connection")) quiet = window.setTimeout(() => { if (!state?.failure) box.textContent = ""; }, bad ? 12000 : 6000);
}

function show(next: State): void {
    panel.update(next);
    view.setState(next);
    $<HTMLElement>("play").textContent = next.playing ? "Pause" : "Play";
    $("undo").disabled = next.undo === null;
    $<HTMLElement>("undo").title = next.undo ? `Undo: ${next.undo} (Ctrl+Z)` : "Nothing to undo";
    $("redo").disabled = next.redo === null;
    $<HTMLElement>("redo").title = next.redo ? `Redo: ${next.redo} (Ctrl+Shift+Z)` : "Nothing to redo";
    $("drawn-row").hidden = next.plane !== 2;
    const r = next.record, scrub = $("scrub");
    scrub.min = String(r.first); scrub.max = String(r.last);
    if (document.activeElement !== scrub || next.viewing === null) scrub.value = String(next.viewing ?? r.last);
    $("branch").disabled = next.viewing === null;
    const seconds = ((next.viewing ?? r.last) / r.fps).toFixed(2);
    $<HTMLElement>("range").textContent = `${seconds} s · kept from ${(r.first / r.fps).toFixed(2)} to ${(r.last / r.fps).toFixed(2)} s · ${(r.bytes / 1e6).toFixed(0)} of ${(r.limit / 1e6).toFixed(0)} MB`;
    $<HTMLElement>("captions").replaceChildren(...(next.compare ? [next.bodies[0]?.formulation ?? "", next.compare] : []).map(t => Object.assign(document.createElement("span"), { textContent: t })));
    if (next.failure) say(`It cannot go on: ${next.failure}`, true);
    else if (next.second_failure) say(`The second cannot go on: ${next.second_failure}`, true);
    document.title = `${next.edited ? "• " : ""}${next.scene} — goop studio`;
}

function wishes(): void { send({ do: "view", velocities: view.show.velocities, stretch: view.show.stretch }); }
function chosen(): void {
    const n = view.selected.size;
    $<HTMLElement>("chosen").textContent = n ? `${n} node${n > 1 ? "s" : ""} selected` : "nothing selected";
    grid.draw(); view.touch();
}

for (const key of Object.keys(view.show) as (keyof typeof view.show)[]) {
    $(`show-${key}`).addEventListener("change", event => {
        view.show[key] = (event.target as HTMLInputElement).checked;
        if (key === "strobe" || key === "path") view.forget();
        wishes(); view.touch();
    });
}
const play = () => send({ do: "toggle" });
$("play").addEventListener("click", play);
$("step").addEventListener("click", () => send({ do: "step" }));
$("reset").addEventListener("click", () => send({ do: "reset" }));
$("undo").addEventListener("click", () => send({ do: "undo" }));
$("redo").addEventListener("click", () => send({ do: "redo" }));
$("branch").addEventListener("click", () => send({ do: "branch" }));
$("scrub").addEventListener("input", () => send({ do: "scrub", frame: Number($("scrub").value) }));
const factor = (v: number) => Number((10 ** v).toPrecision(2));
$("speed").addEventListener("input", () => { const value = factor(Number($("speed").value)); $<HTMLElement>("speed-out").textContent = `${value}×`; send({ do: "speed", value }); });
const strength = () => factor(Number($("strength").value));
$("strength").addEventListener("input", () => { $<HTMLElement>("strength-out").textContent = `${strength()}×`; });
$("pin-selected").addEventListener("click", () => { if (view.selected.size) send({ do: "pin", body: panel.body, nodes: [...view.selected] }); });
$("unpin-selected").addEventListener("click", () => { if (view.selected.size) send({ do: "unpin", body: panel.body, nodes: [...view.selected] }); });

// The mouse.
type Gesture =
    | { kind: "grab"; body: number; node: number; through: number[]; id: number }
    | { kind: "turn"; x: number; y: number }
    | { kind: "pan"; x: number; y: number }
    | { kind: "move"; name: string; from: number[]; through: number[]; normal: number[] | null }
    | { kind: "box"; x: number; y: number; add: boolean }
    | { kind: "draw"; points: number[][]; pixels: string[] };
let gesture: Gesture | null = null;
const tool = () => (document.querySelector("input[name=tool]:checked") as HTMLInputElement).value;
const box = document.getElementById("box") as unknown as SVGRectElement, stroke = document.getElementById("stroke") as unknown as SVGPolylineElement;

canvas.addEventListener("contextmenu", event => event.preventDefault());
canvas.addEventListener("pointerdown", event => {
    canvas.focus();
    canvas.setPointerCapture(event.pointerId);
    const { clientX: x, clientY: y } = event, now = tool();
    if (event.button === 1 || (event.button === 2 && event.shiftKey)) { gesture = { kind: "pan", x, y }; return; }
    if (event.button === 2 || now === "orbit") { gesture = { kind: "turn", x, y }; return; }
    if (now === "box") { gesture = { kind: "box", x, y, add: event.shiftKey }; return; }
    if (now === "draw") { gesture = { kind: "draw", points: [view.point(x, y, [0, 0, 0])], pixels: [] }; return; }
    const found = now === "move" ? null : view.pick(x, y);
    if (!found) {
        // With the tool for it every obstacle can be moved; else walls and floors are background.
        const met = now === "pin" ? null : view.pickObstacle(x, y);
        if (met && (now === "move" || met.obstacle.kind !== "plane")) gesture = { kind: "move", name: met.obstacle.name, from: met.obstacle.position, through: met.point, normal: met.normal };
        else gesture = { kind: "turn", x, y };
        return;
    }
    if (now === "pin") {
        const pinned = Array.from(last?.panes[0]?.bodies[found.body]?.pinned ?? []);
        send({ do: pinned.includes(found.node) ? "unpin" : "pin", body: found.body, nodes: [found.node] });
        return;
    }
    gesture = { kind: "grab", ...found, through: view.nodePlace(found.body, found.node), id: ++hold + Math.floor(1e9 * Math.random()) };
    pull(x, y);
});

let pulled = 0;
function pull(x: number, y: number): void {
    if (gesture?.kind !== "grab") return;
    send({ do: "grab", body: gesture.body, node: gesture.node, to: view.point(x, y, gesture.through), gesture: gesture.id, strength: strength() });
    pulled = performance.now();
}

function move(x: number, y: number): void {
    if (gesture?.kind !== "move") return;
    const { from, through, name, normal } = gesture, to = view.point(x, y, through);
    let by = to.map((v, k) => v - through[k]!);
    // A wall goes where its normal points, and nowhere else.
    if (normal) { const far = by.reduce((sum, v, k) => sum + v * normal[k]!, 0); by = normal.map(v => far * v); }
    send({ do: "move-obstacle", name, position: from.map((v, k) => Number((v + by[k]!).toFixed(6))) });
    pulled = performance.now();
}

canvas.addEventListener("pointermove", event => {
    const { clientX: x, clientY: y } = event;
    if (!gesture) return;
    if (gesture.kind === "grab") { if (performance.now() - pulled > 12) pull(x, y); }
    else if (gesture.kind === "move") { if (performance.now() - pulled > 12) move(x, y); }
    else if (gesture.kind === "turn") { view.orbit(x - gesture.x, y - gesture.y); gesture.x = x; gesture.y = y; }
    else if (gesture.kind === "pan") { view.pan(x - gesture.x, y - gesture.y); gesture.x = x; gesture.y = y; }
    else if (gesture.kind === "box") {
        const at = canvas.getBoundingClientRect();
        box.setAttribute("visibility", "visible");
        box.setAttribute("x", String(Math.min(x, gesture.x) - at.left)); box.setAttribute("y", String(Math.min(y, gesture.y) - at.top));
        box.setAttribute("width", String(Math.abs(x - gesture.x))); box.setAttribute("height", String(Math.abs(y - gesture.y)));
    } else {
        const at = canvas.getBoundingClientRect();
        gesture.points.push(view.point(x, y, [0, 0, 0]));
        gesture.pixels.push(`${x - at.left},${y - at.top}`);
        stroke.setAttribute("points", gesture.pixels.join(" "));
    }
});

function end(event: PointerEvent): void {
    if (gesture?.kind === "move") move(event.clientX, event.clientY);
    const done = gesture;
    gesture = null;
    if (done?.kind === "grab") send({ do: "release", body: done.body });
    if (done?.kind === "box") {
        box.setAttribute("visibility", "hidden");
        if (!done.add) view.selected.clear();
        view.within(done.x, done.y, event.clientX, event.clientY).forEach(n => view.selected.add(n));
        chosen();
    }
    if (done?.kind === "draw") {
        stroke.setAttribute("points", "");
        const step = Math.max(1, Math.ceil(done.points.length / 2000));
        send({ do: "draw", points: done.points.filter((_, k) => k % step === 0), instead: $("drawn").value === "instead" ? panel.body : null });
    }
}
canvas.addEventListener("pointerup", end);
canvas.addEventListener("pointercancel", end);
canvas.addEventListener("wheel", event => { event.preventDefault(); view.zoom(0.0012 * event.deltaY); }, { passive: false });

// The keys. Thrusters push while a key is held.
const THRUST: Record<string, number[]> = { ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowUp: [0, 1, 0], ArrowDown: [0, -1, 0], PageUp: [0, 0, -1], PageDown: [0, 0, 1] };
const held = new Set<string>();
function thrust(): void {
    const sum = [0, 0, 0], size = Number($("thrust").value) || 0;
    held.forEach(key => THRUST[key]!.forEach((v, k) => { sum[k]! += v * size; }));
    send({ do: "thrust", body: panel.body, nodes: [...view.selected], newtons: sum });
}
const typing = (event: KeyboardEvent) => (event.target as HTMLElement).matches?.("input:not([type=radio]):not([type=checkbox]), select, textarea");
addEventListener("keydown", event => {
    if ((event.ctrlKey || event.metaKey) && /^[zy]$/i.test(event.key)) {
        event.preventDefault();
        send({ do: event.shiftKey || event.key.toLowerCase() === "y" ? "redo" : "undo" });
        return;
    }
    if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in THRUST && !(event.target as HTMLElement).matches?.("[name=tool]")) {
        event.preventDefault();
        if (!held.has(event.key)) { held.add(event.key); thrust(); }
        return;
    }
    const tools: Record<string, string> = { d: "drag", p: "pin", s: "box", m: "move", w: "draw", o: "orbit" };
    if (event.key === " " && !(event.target as HTMLElement).matches?.("button, summary")) { event.preventDefault(); play(); }
    else if (event.key === ".") send({ do: "step" });
    else if (event.key === "Home") send({ do: "reset" });
    else if (event.key === "Escape") { view.selected.clear(); chosen(); }
    else if (tools[event.key]) (document.querySelector(`input[value=${tools[event.key]}]`) as HTMLInputElement).checked = true;
});
addEventListener("keyup", event => { if (held.delete(event.key)) thrust(); });
addEventListener("blur", () => { if (held.size) { held.clear(); thrust(); } });
setInterval(() => plot.draw(), 250);

// For tests: where things are on the screen, and how fast the picture is.
(window as any).studio = {
    pixel: (body: number, node: number, pane = 0) => view.pixel(body, node, pane),
    gridPixel: (node: number) => grid.pixel(node),
    drawn: () => view.drawn, frames: () => frames, angles: () => view.angles(), selected: () => view.selected.size,
    ghosts: () => view.ghosts(), trail: () => view.trail(), rows: () => plot.count(), show: view.show,
    colours: () => last?.panes[0]?.bodies[0]?.stretch?.length ?? 0, velocities: () => last?.panes[0]?.bodies[0]?.velocities?.length ?? 0,
    gridPinned: () => grid.held(), sprung: () => Array.from(last?.panes[0]?.bodies[0]?.sprung ?? []),
    velocity: (node: number) => Array.from(last?.panes[0]?.bodies[0]?.velocities?.slice(3 * node, 3 * node + 3) ?? []),
    inked: (id: string) => { const c = $<HTMLElement>(id) as unknown as HTMLCanvasElement; return c.getContext("2d")!.getImageData(0, 0, c.width, c.height).data.some(v => v > 0); },
    shown: () => view.shown(), settled: () => view.settled(), ledger: () => plot.last(), time: () => last?.time ?? -1,
    obstacle: (name: string) => state?.obstacles.find(o => o.name === name)?.position ?? [],
    pointPixel: (point: number[], pane = 0) => view.pointPixel(point, pane),
    panes: () => last?.panes.length ?? 0, contacts: () => (last?.panes[0]?.contacts.length ?? 0) / 2, ready: () => state !== null && last !== null,
};
