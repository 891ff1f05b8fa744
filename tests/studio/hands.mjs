// A pair of hands at a page: what a person does with mouse and keys, told by what it is for.
// Each waits for what it did to be seen, never for a time.
import { expect, pixel, until } from "./lib.mjs";

export function hands(page, at) {
    const shown = () => page.evaluate(() => window.studio.shown());
    const find = async selector => {
        const found = page.locator(selector);
        await found.scrollIntoViewIfNeeded();
        return found.boundingBox();
    };
    const me = {
        shown,
        tool: name => page.click(`input[name=tool][value=${name}]`),
        say: () => page.textContent("#message"),

        /// The picture shows what the engine has, which stands still.
        async settled() {
            await until("the picture to follow", async () => {
                const { shown, playing } = await at.state();
                const drawn = await page.evaluate(() => window.studio.settled() ? window.studio.shown().sequence : null);
                return !playing && shown !== null && drawn === shown;
            });
        },
        /// A page as it opens, with this scene at its start.
        async choose(name) {
            await page.mouse.up();
            await page.reload();
            await page.waitForFunction(() => window.studio?.ready());
            await page.selectOption("#scene", name);
            await until(`scene ${name}`, async () => { const s = await at.status(); return s.scene === name && s.sim_time === 0; });
            await page.waitForFunction(n => document.title.includes(n), name);
            await me.settled();
        },
        async playing(wanted) {
            if ((await at.status()).playing !== wanted) await page.click("#play");
            await until(`playing ${wanted}`, async () => (await at.status()).playing === wanted);
            if (!wanted) await me.settled();
        },
        /// Plays for so many simulated seconds and stops.
        async playFor(seconds) {
            const goal = (await at.status()).sim_time + seconds;
            await me.playing(true);
            await until(`${seconds} s of play`, async () => (await at.status()).sim_time >= goal, 60000);
            await me.playing(false);
        },
        async reset() {
            await page.click("#reset");
            await until("the start", async () => (await at.state()).at_start);
            await me.settled();
        },
        /// A slider is drawn to a part of its length.
        async slide(selector, part) {
            const bar = await find(selector), y = bar.y + bar.height / 2;
            const x = f => bar.x + 8 + (bar.width - 16) * f;
            await page.mouse.move(x(part > 0.5 ? part - 0.2 : part + 0.2), y);
            await page.mouse.down();
            await page.mouse.move(x(part), y, { steps: 4 });
            await page.mouse.up();
        },
        async type(selector, text) { await page.fill(selector, text); await page.press(selector, "Enter"); },
        async clickNode(node, body = 0) {
            const p = await pixel(page, body, node);
            await page.mouse.click(p.x, p.y);
        },
        /// Takes hold of a node and draws it so many pixels; it stays held.
        async takeNode(body, node, dx, dy, pane = 0) {
            const p = await pixel(page, body, node, pane);
            await me.draw([[p.x, p.y], [p.x + dx, p.y + dy]], { release: false });
            return until("a hold", async () => (await at.state()).bodies[body].grabbed[0]);
        },
        async letGo(body = 0) {
            await page.mouse.up();
            await until("let go", async () => (await at.state()).bodies[body].grabbed.length === 0);
        },
        /// The mouse goes from point to point with its button held.
        async draw(points, { steps = 10, release = true, button = "left" } = {}) {
            await page.mouse.move(...points[0]);
            await page.mouse.down({ button });
            for (const point of points.slice(1)) await page.mouse.move(...point, { steps });
            if (release) await page.mouse.up({ button });
        },
        /// Draws a box over the model: from its upper left to this part of its height.
        async boxSelect(part, corners = [0, 10, 110, 120]) {
            const at = await Promise.all(corners.map(n => pixel(page, 0, n)));
            const xs = at.map(c => c.x), ys = at.map(c => c.y), [top, bottom] = [Math.min(...ys), Math.max(...ys)];
            await me.draw([[Math.min(...xs) - 8, top - 8], [Math.max(...xs) + 8, top + part * (bottom - top) + (part === 1 ? 8 : 0)]], { steps: 4, release: false });
        },
        /// Draws a closed curve about the middle of the picture.
        async drawCurve({ radius = 70, lobes = 3, up = 0.4, across = 0.5, release = true } = {}) {
            const stage = await find("#view"), cx = stage.x + stage.width * across, cy = stage.y + stage.height * up;
            const points = Array.from({ length: 41 }, (_, k) => {
                const a = k / 40 * 2 * Math.PI, r = radius * (1 + 0.25 * Math.sin(lobes * a));
                return [cx + r * Math.cos(a), cy + r * Math.sin(a)];
            });
            await me.draw(points, { steps: 1, release });
        },
        async obstacle(name) {
            const found = (await at.state()).obstacles.find(o => o.name === name && !o.removed);
            expect(found, `there is no obstacle ${name}`);
            return found;
        },
        /// Draws an obstacle by a point beside its middle (m), so many pixels.
        async dragObstacle(name, dx, dy, beside = [0, 0, 0]) {
            const { position } = await me.obstacle(name);
            const p = await page.evaluate(point => window.studio.pointPixel(point), position.map((v, k) => v + beside[k]));
            await me.draw([[p.x, p.y], [p.x + dx, p.y + dy]]);
        },
    };
    return me;
}
