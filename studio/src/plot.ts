// The energy account over time.
import type { Frame } from "./wire";

const LINES: [string, string][] = [
    ["kinetic", "#2f7fd0"], ["elastic", "#d0602f"], ["gravity", "#5a9d3c"], ["contact", "#9a5fc0"],
    ["lost", "#8b8f96"], ["scheme", "#c0a030"], ["work", "#2fa8a0"], ["residue", "#d02f60"],
];

export class Plot {
    private rows: { time: number; values: number[] }[] = [];
    private first: number | null = null;

    constructor(private readonly canvas: HTMLCanvasElement, legend: HTMLElement) {
        legend.innerHTML = LINES.map(([name, colour]) => `<span><i style="background:${colour}"></i>${name}</span>`).join("");
    }

    add(frame: Frame): void {
        if (frame.recorded) return;
        const last = this.rows.at(-1);
        if (last && frame.time < last.time) this.rows = this.rows.filter(r => r.time < frame.time);
        if (last && frame.time - last.time < 1 / 250 && frame.time !== 0) return;
        if (this.rows.length === 0) this.first = frame.energies[2]!;
        const values = frame.energies.slice();
        values[2]! -= this.first ?? 0; // gravity counts from the start
        this.rows.push({ time: frame.time, values });
        if (this.rows.length > 3000) this.rows.splice(0, 400);
    }

    clear(): void { this.rows = []; }
    count(): number { return this.rows.length; }
    /// The newest row, as it came.
    last(): { time: number; values: number[] } | null {
        const row = this.rows.at(-1);
        return row ? { time: row.time, values: row.values.map((v, k) => k === 2 ? v + (this.first ?? 0) : v) } : null;
    }

    draw(): void {
        const pen = this.canvas.getContext("2d")!, { width, height } = this.canvas;
        const ink = getComputedStyle(document.documentElement).getPropertyValue("--soft");
        pen.clearRect(0, 0, width, height);
        if (this.rows.length < 2) return;
        const end = this.rows.at(-1)!.time, start = Math.max(this.rows[0]!.time, end - 10);
        const rows = this.rows.filter(r => r.time >= start);
        let low = 0, high = 1e-12;
        for (const row of rows) for (const v of row.values) { if (v < low) low = v; if (v > high) high = v; }
        const x = (t: number) => 40 + (width - 44) * (t - start) / Math.max(1e-9, end - start);
        const y = (v: number) => 6 + (height - 22) * (high - v) / (high - low);
        pen.strokeStyle = pen.fillStyle = ink;
        pen.font = "10px system-ui";
        pen.beginPath(); pen.moveTo(40, y(0)); pen.lineTo(width - 4, y(0)); pen.stroke();
        pen.fillText(`${high.toPrecision(2)} J`, 2, 14);
        if (low < -0.02 * high) pen.fillText(`${low.toPrecision(2)} J`, 2, height - 18);
        pen.fillText(`${start.toFixed(1)} s`, 40, height - 3);
        pen.fillText(`${end.toFixed(1)} s`, width - 36, height - 3);
        LINES.forEach(([, colour], k) => {
            pen.strokeStyle = colour;
            pen.beginPath();
            rows.forEach((r, i) => { if (i) pen.lineTo(x(r.time), y(r.values[k]!)); else pen.moveTo(x(r.time), y(r.values[k]!)); });
            pen.stroke();
        });
    }
}
