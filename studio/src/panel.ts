// The panel at the side: shows the state, sends what is changed.
import type { Obstacle, State } from "./wire";

export const $ = <T extends HTMLElement = HTMLInputElement>(id: string) => document.getElementById(id) as unknown as T;
type Send = (command: Record<string, unknown>) => void;

/// Values of a material: name, unit, least, most (on a logarithmic slider), or linear.
const CARD: [string, string, number, number, boolean][] = [
    ["density", "kg/m³", 1, 2e4, true], ["young", "Pa", 1e2, 1e12, true], ["poisson", "", -0.9, 0.49, false],
    ["thickness", "m", 1e-5, 0.1, true], ["radius", "m", 1e-4, 0.2, true], ["damping", "", 0, 2, false],
    ["drag", "1/s", 0, 10, false], ["friction", "", 0, 2, false], ["yield", "", 0, 1, false], ["flow", "1/s", 0.01, 1e3, true],
    ["flow-limit", "", 0.01, 5, true], ["tear", "", 0.01, 5, true],
    ["k", "N/m", 1e-2, 1e6, true], ["d", "N s/m", 0, 100, false], ["c", "N s/m", 0, 100, false], ["shear", "N/m", 0, 1e4, false], ["bend", "N/m", 0, 1e4, false],
];

/// At most so often; the last value is always sent.
function gently(send: () => void, wait = 70): () => void {
    let timer = 0, again = false;
    return () => {
        if (timer) { again = true; return; }
        send();
        timer = window.setTimeout(() => { timer = 0; if (again) { again = false; send(); } }, wait);
    };
}

function options(select: HTMLSelectElement, values: [string, string][], chosen: string): void {
    const key = JSON.stringify(values);
    if (select.dataset.key !== key) {
        select.dataset.key = key;
        select.replaceChildren(...values.map(([value, text]) => new Option(text, value)));
    }
    if (document.activeElement !== select || select.value === "") select.value = chosen;
}

/// For so long after it was moved a slider is someone's (ms).
const HELD = 600;

/// While someone is at a control it shows what they do, not what the engine says.
const busy = (input: HTMLInputElement) => input.type === "range"
    ? performance.now() - Number(input.dataset.touched ?? -1e9) < HELD
    : document.activeElement === input && input.dataset.typing === "yes";
addEventListener("input", event => {
    const input = event.target as HTMLInputElement;
    if (input.matches("input")) { input.dataset.touched = String(performance.now()); input.dataset.typing = "yes"; }
}, true);
addEventListener("change", event => { (event.target as HTMLElement).dataset.typing = "no"; }, true);

const short = (v: number) => (v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e5) ? v.toExponential(2) : String(Number(v.toPrecision(4))));

export class Panel {
    body = 0;
    state: State | null = null;
    private materialKey = "";
    private later = 0;

    constructor(private readonly send: Send, private readonly choose: (body: number) => void) {
        const select = (id: string, act: (value: string) => void) => {
            const element = $<HTMLSelectElement>(id);
            element.addEventListener("change", () => { act(element.value); element.blur(); });
        };
        select("scene", name => send({ do: "scene", name }));
        select("body", value => { this.body = Number(value); this.choose(this.body); this.materialKey = ""; this.update(this.state!); });
        select("formulation", to => send({ do: "formulation", body: this.body, to, integrator: null }));
        select("integrator", integrator => send({ do: "formulation", body: this.body, to: $("formulation").value, integrator }));
        select("compare", value => send({ do: "compare", formulation: value || null }));
        $("dt").addEventListener("change", () => send({ do: "step-length", dt: Number($("dt").value) }));
        $("gravity").addEventListener("input", gently(() => send({ do: "world", gravity: [this.state!.gravity[0], Number($("gravity").value), this.state!.gravity[2]], wind: null })));
        $("wind").addEventListener("input", gently(() => send({ do: "world", gravity: null, wind: [Number($("wind").value), this.state!.wind[1], this.state!.wind[2]] })));
        $("obstacle-add").addEventListener("click", () => {
            const body = this.state?.bodies[this.body];
            const kind = $("obstacle-kind").value, below = kind === "plane" ? -1 : -0.7;
            const at = this.middle?.(this.body) ?? [0, 0, 0];
            const size = Number($("obstacle-size").value), position = [at[0]!, at[1]! + below * Math.min(1, body?.extent ?? 1), at[2]!];
            // Beside what stands there already.
            const near = (o: Obstacle) => !o.removed && o.kind !== "plane" && Math.hypot(...o.position.map((v, k) => v - position[k]!)) < 0.9 * size;
            while (kind !== "plane" && this.state?.obstacles.some(near)) position[0]! += size;
            send({ do: "add-obstacle", kind, size, position: position.map(v => Number(v.toFixed(4))) });
        });
        $("save").addEventListener("click", () => send({ do: "save", file: $("file").value, overwrite: $("overwrite").checked }));
        $("export").addEventListener("click", () => send({ do: "export", format: $("format").value }));
    }

    middle: ((body: number) => number[]) | null = null;

    update(state: State): void {
        this.state = state;
        if (this.body >= state.bodies.length) { this.body = 0; this.choose(0); }
        options($("scene") as unknown as HTMLSelectElement, state.scenes.map(([name, title]) => [name, title ? `${name} — ${title}` : name]), state.scene);
        options($("body") as unknown as HTMLSelectElement, state.bodies.map((b, k) => [String(k), `${b.name} (${b.nodes} nodes)`]), String(this.body));
        const body = state.bodies[this.body];
        if (body) {
            options($("formulation") as unknown as HTMLSelectElement, state.formulations.map(f => [f, f]), body.formulation);
            options($("integrator") as unknown as HTMLSelectElement, state.integrators.map(f => [f, f]), body.integrator);
            this.material(body.material, body.raw);
            if (!$("thrust").value) $("thrust").value = short(2 * 9.81 * body.mass);
        }
        options($("compare") as unknown as HTMLSelectElement, [["", "nothing"], ...state.formulations.map(f => [f, `the same as ${f}`] as [string, string])], state.compare ?? "");
        options($("format") as unknown as HTMLSelectElement, state.formats.map(f => [f, f]), $("format").value || state.formats[0]!);
        this.number("dt", Number(state.dt.toPrecision(6)));
        this.number("gravity", state.gravity[1]!);
        this.number("wind", state.wind[0]!);
        $("gravity-out").textContent = short(state.gravity[1]!);
        $("wind-out").textContent = short(state.wind[0]!);
        this.obstacles(state);
        const lines: [string, boolean][] = [...state.warnings.map(w => [w, true] as [string, boolean]), ...state.checks.map(c => [c, /UNSTABLE|unstable|raise|wants/.test(c)] as [string, boolean])];
        $<HTMLElement>("checks").replaceChildren(...lines.map(([text, warn]) => { const li = document.createElement("li"); li.textContent = text; li.className = warn ? "warn" : ""; return li; }));
        const r = state.record;
        $<HTMLElement>("recorded").textContent = `${state.recorded} edits recorded, ${r.last - r.first + 1} frames`;
    }

    private number(id: string, value: number): void {
        if (!this.isBusy($(id))) $(id).value = String(value);
    }

    /// What a slider has missed while it was someone's it shows when it no longer is.
    private isBusy(input: HTMLInputElement): boolean {
        const is = busy(input);
        if (is && input.type === "range" && !this.later) {
            this.later = window.setTimeout(() => { this.later = 0; this.update(this.state!); }, HELD);
        }
        return is;
    }

    private material(card: Record<string, number | null>, raw: boolean): void {
        const there = CARD.filter(([key]) => card[key] !== null && card[key] !== undefined && !(raw && (key === "young" || key === "poisson" || key === "damping")));
        const key = this.body + there.map(c => c[0]).join();
        const box = $<HTMLElement>("material");
        if (this.materialKey !== key) {
            this.materialKey = key;
            box.replaceChildren(...there.map(([name, unit, low, high, log]) => {
                const label = document.createElement("label");
                const input = Object.assign(document.createElement("input"), { type: "range", min: "0", max: "1", step: "0.001", id: `m-${name}` });
                const output = document.createElement("output");
                label.append(name + " ", input, output);
                const value = () => { const s = Number(input.value); return log ? low * (high / low) ** s : low + s * (high - low); };
                const body = this.body;
                input.addEventListener("input", gently(() => this.send({ do: "material", body, key: name, value: Number(value().toPrecision(6)) })));
                input.addEventListener("input", () => { output.textContent = `${short(value())} ${unit}`; });
                return label;
            }));
        }
        for (const [name, unit, low, high, log] of there) {
            const input = $(`m-${name}`), value = card[name]!;
            if (this.isBusy(input)) continue;
            const s = log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low);
            input.value = String(Math.min(1, Math.max(0, s)));
            input.nextElementSibling!.textContent = `${short(value)} ${unit}`;
        }
    }

    private obstacles(state: State): void {
        const box = $<HTMLElement>("obstacles"), there = state.obstacles.filter(o => !o.removed);
        const key = there.map(o => o.name).join();
        if (box.dataset.key !== key) {
            box.dataset.key = key;
            box.replaceChildren(...there.map(o => {
                const row = Object.assign(document.createElement("div"), { className: "obstacle" });
                const name = Object.assign(document.createElement("span"), { textContent: o.name, title: o.kind });
                const places = [0, 1, 2].map(axis => {
                    const input = Object.assign(document.createElement("input"), { type: "number", step: "0.05" });
                    input.setAttribute("aria-label", `${o.name} ${"xyz"[axis]} (m)`);
                    input.id = `o-${o.name}-${"xyz"[axis]}`;
                    return input;
                });
                places.forEach(p => p.addEventListener("change", () => this.send({ do: "move-obstacle", name: o.name, position: places.map(q => Number(q.value)) })));
                const remove = Object.assign(document.createElement("button"), { textContent: "×", title: `Remove ${o.name}` });
                remove.setAttribute("aria-label", `Remove ${o.name}`);
                remove.addEventListener("click", () => this.send({ do: "remove-obstacle", name: o.name }));
                row.append(name, ...places, remove);
                return row;
            }));
        }
        for (const o of there) o.position.forEach((v, axis) => this.number(`o-${o.name}-${"xyz"[axis]}`, Number(v.toFixed(4))));
    }
}
