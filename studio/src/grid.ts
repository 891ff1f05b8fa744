// The body by its material coordinates: every node a dot, held ones filled; a click holds a
// node or lets it go (GO, figure 4).
import type { BodyModel, Frame } from "./wire";

export class Grid {
    private body: BodyModel | null = null;
    private number = 0;
    private pinned = new Set<number>();
    private spots: { x: number; y: number; node: number }[] = [];
    private slice = 0;

    constructor(
        private readonly canvas: HTMLCanvasElement, private readonly slider: HTMLInputElement, private readonly row: HTMLElement,
        private readonly selected: Set<number>, private readonly toggle: (body: number, node: number, held: boolean) => void,
    ) {
        canvas.addEventListener("click", event => {
            const found = this.at(event);
            if (found !== null) this.toggle(this.number, found, this.pinned.has(found));
        });
        slider.addEventListener("input", () => { this.slice = Number(slider.value); this.place(); this.draw(); });
    }

    setBody(body: BodyModel | null, number: number): void {
        this.body = body; this.number = number; this.slice = 0;
        const layers = body?.dimension === 3 && body.counts ? body.counts[2]! : 1;
        this.row.hidden = layers < 2;
        this.slider.max = String(layers - 1); this.slider.value = "0";
        this.place();
        this.draw();
    }

    setFrame(frame: Frame): void {
        const now = frame.panes[0]?.bodies[this.number]?.pinned;
        if (!now || (now.length === this.pinned.size && now.every(n => this.pinned.has(n)))) return;
        this.pinned = new Set(now);
        this.draw();
    }

    /// Nodes that are marked as held.
    held(): number[] { return [...this.pinned]; }

    /// Pixels of a node in the window.
    pixel(node: number): { x: number; y: number } | null {
        const spot = this.spots.find(s => s.node === node), box = this.canvas.getBoundingClientRect();
        return spot ? { x: box.left + spot.x * box.width / this.canvas.width, y: box.top + spot.y * box.height / this.canvas.height } : null;
    }

    private at(event: MouseEvent): number | null {
        const box = this.canvas.getBoundingClientRect();
        const x = (event.clientX - box.left) * this.canvas.width / box.width, y = (event.clientY - box.top) * this.canvas.height / box.height;
        let best: number | null = null, near = 14;
        for (const spot of this.spots) {
            const d = Math.hypot(spot.x - x, spot.y - y);
            if (d < near) { near = d; best = spot.node; }
        }
        return best;
    }

    private place(): void {
        this.spots = [];
        const body = this.body;
        if (!body) return;
        const { width, height } = this.canvas, layers = body.counts?.[2] ?? 1;
        const level = layers > 1 ? this.slice / (layers - 1) : 0;
        for (let node = 0; node < body.nodes; node++) {
            const [u, v, w] = [body.coordinates[3 * node]!, body.coordinates[3 * node + 1]!, body.coordinates[3 * node + 2]!];
            if (body.dimension === 3 && body.counts && Math.abs(w - level) > 0.5 / Math.max(1, layers - 1)) continue;
            this.spots.push({ x: 12 + u * (width - 24), y: height - 12 - (body.dimension === 1 ? 0.5 : v) * (height - 24), node });
        }
    }

    draw(): void {
        const pen = this.canvas.getContext("2d")!;
        const style = getComputedStyle(document.documentElement);
        pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
        const room = this.body?.dimension === 1 ? 100 / this.spots.length : 90 / Math.sqrt(this.spots.length);
        const r = Math.max(1, Math.min(5, room));
        for (const spot of this.spots) {
            const held = this.pinned.has(spot.node), chosen = this.selected.has(spot.node);
            pen.fillStyle = held ? "#c8202c" : chosen ? "#d9a400" : style.getPropertyValue("--soft");
            pen.beginPath();
            pen.arc(spot.x, spot.y, held || chosen ? r + 1.5 : r, 0, 7);
            pen.fill();
        }
    }
}
