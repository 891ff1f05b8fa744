// Everything one can do, done with the mouse and the keys of a real browser, and asked of the engine.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, close, expect, finish, open, picture, pixel, run, sleep, studio, until } from "./lib.mjs";

const SHEET = `# My own sheet: this comment stays.
format = 1
title = "A sheet to pull at"

[clip]
seconds = 5

[[body]]
name = "sheet"               # the only one
formulation = "implicit"
position = [0, 1, 0]

[body.shape.rectangle]
size = [1, 1]
nodes = [11, 11]

[body.material]
preset = "rubber"
young = 2e5                  # soft

# held at two corners
[[body.pin]]
at = { corner = [0, 0] }
[[body.pin]]
at = { corner = [1, 0] }
`;
const at = await studio("four-corners");
writeFileSync(join(at.folder, "sheet.toml"), SHEET);
const page = await open(at);
const center = 60;
const tool = name => page.click(`input[name=tool][value=${name}]`);
const choose = async name => {
    await page.reload();
    await page.waitForFunction(() => window.studio?.ready());
    await page.selectOption("#scene", name);
    await until(`scene ${name}`, async () => (await at.status()).scene === name);
    await until("its picture", () => page.evaluate(n => document.title.includes(n) && window.studio.drawn() > 1, name));
    await sleep(150);
};
const playing = async wanted => {
    if ((await at.status()).playing !== wanted) await page.click("#play");
    return until(`playing ${wanted}`, async () => (await at.status()).playing === wanted);
};
const dragBy = async (body, node, dx, dy, { pane = 0, steps = 12, hold = 0 } = {}) => {
    const p = await pixel(page, body, node, pane);
    await page.mouse.move(p.x, p.y);
    await page.mouse.down();
    await page.mouse.move(p.x + dx, p.y + dy, { steps });
    await sleep(hold);
};

await check("a scene is chosen from the list", async () => {
    await choose("sheet.toml");
    const state = await at.state();
    expect(state.bodies[0].nodes === 121, "121 nodes");
    await picture(page, "chosen");
});
await check("play, pause, step, reset", async () => {
    await playing(true);
    await until("time", async () => (await at.status()).sim_time > 0.3);
    await playing(false);
    const before = await at.status();
    await sleep(200);
    expect((await at.status()).state_hash === before.state_hash, "paused means paused");
    await page.click("#step");
    await until("one frame", async () => (await at.status()).frame === before.frame + 1);
    await page.keyboard.press(".");
    await until("another by key", async () => (await at.status()).frame === before.frame + 2);
    await page.click("#reset");
    await until("the start", async () => (await at.status()).sim_time === 0);
    await page.locator("#view").focus();
    await page.keyboard.press(" ");
    await until("play by key", async () => (await at.status()).playing);
    await page.keyboard.press(" ");
    await until("pause by key", async () => !(await at.status()).playing);
});
await check("scrub back, and go on from there", async () => {
    await playing(true);
    await until("a second", async () => (await at.status()).sim_time > 1.2);
    await playing(false);
    const last = (await at.status()).frame;
    const bar = await page.locator("#scrub").boundingBox();
    await page.mouse.click(bar.x + bar.width * 0.4, bar.y + bar.height / 2);
    const viewing = await until("an earlier frame", async () => (await at.state()).viewing);
    expect(viewing > 2 && viewing < last - 2, `frame ${viewing} of ${last}`);
    expect(/kept from 0.00/.test(await page.textContent("#range")), await page.textContent("#range"));
    await picture(page, "scrubbed");
    await page.click("#branch");
    const now = await until("back there", async () => { const s = await at.state(); return s.viewing === null && s; });
    expect(now.frame === viewing && Math.abs(now.sim_time - viewing / 24) < 0.01, `at frame ${now.frame}, ${now.sim_time} s`);
});
await check("orbit by dragging the background and by the tool", async () => {
    const before = await page.evaluate(() => window.studio.angles());
    await page.mouse.move(60, 300); await page.mouse.down(); await page.mouse.move(160, 340, { steps: 5 }); await page.mouse.up();
    const after = await page.evaluate(() => window.studio.angles());
    expect(Math.abs(after[0] - before[0]) > 0.1, "turned");
    await page.mouse.wheel(0, 200);
    await until("further away", () => page.evaluate(d => window.studio.angles()[2] > d, after[2]));
    await page.mouse.move(160, 340); await page.mouse.down(); await page.mouse.move(60, 300, { steps: 5 }); await page.mouse.up();
});
await check("a node is dragged by the mouse and let go", async () => {
    await choose("sheet.toml");
    await playing(true);
    await sleep(300);
    await dragBy(0, center, 0, -150, { hold: 500 });
    const held = await at.state();
    expect(held.bodies[0].grabbed.length === 1, JSON.stringify(held.bodies[0].grabbed));
    // The sheet moves while the mouse comes: the node under it is that one or one beside it.
    const node = held.bodies[0].grabbed[0].nodes[0];
    const lifted = held.positions[0][0][node][1];
    await picture(page, "dragged");
    await page.mouse.up();
    await until("let go", async () => (await at.state()).bodies[0].grabbed.length === 0);
    await until("it falls", async () => (await at.state()).positions[0][0][node][1] < lifted - 0.1);
    await playing(false);
});
await check("nodes are pinned and unpinned by clicking on the model", async () => {
    await choose("sheet.toml");
    await tool("pin");
    const click = async node => { const p = await pixel(page, 0, node); await page.mouse.click(p.x, p.y); };
    await click(65);
    await until("pinned", async () => (await at.state()).bodies[0].pinned.includes(65));
    await until("in the text", async () => (await at.state()).text.includes("index = [65]"));
    await sleep(300);
    await click(65);
    await until("free", async () => !(await at.state()).bodies[0].pinned.includes(65));
    await playing(true); await sleep(400); await playing(false);
    await sleep(150);
    await click(50);
    await until("pinned while it moves", async () => (await at.state()).bodies[0].pinned.includes(50));
    expect((await at.state()).recorded === 1, "recorded as an event");
});
await check("nodes are pinned on the picture of material coordinates", async () => {
    await choose("sheet.toml");
    await page.locator("#grid").scrollIntoViewIfNeeded();
    const p = await page.evaluate(() => window.studio.gridPixel(115));
    await page.mouse.click(p.x, p.y);
    await until("pinned", async () => (await at.state()).bodies[0].pinned.includes(115));
    await sleep(200);
    await picture(page, "grid");
    await page.mouse.click(p.x, p.y);
    await until("free", async () => !(await at.state()).bodies[0].pinned.includes(115));
});
await check("a box selects, and the selection is pinned and let go", async () => {
    await choose("sheet.toml");
    await tool("box");
    const corners = await Promise.all([0, 10, 110, 120].map(n => pixel(page, 0, n)));
    const xs = corners.map(c => c.x), ys = corners.map(c => c.y);
    await page.mouse.move(Math.min(...xs) - 8, Math.min(...ys) - 8);
    await page.mouse.down();
    await page.mouse.move(Math.max(...xs) + 8, (Math.min(...ys) + Math.max(...ys)) / 2, { steps: 4 });
    await picture(page, "box");
    await page.mouse.up();
    const count = await page.evaluate(() => window.studio.selected());
    expect(count > 20 && count < 121, `${count} selected`);
    await page.click("#pin-selected");
    await until("pinned", async () => (await at.state()).bodies[0].pinned.length >= count);
    await page.mouse.move(Math.min(...xs) - 8, Math.min(...ys) - 8);
    await page.mouse.down(); await page.mouse.move(Math.max(...xs) + 8, Math.max(...ys) + 8, { steps: 4 }); await page.mouse.up();
    await page.click("#unpin-selected");
    await until("none left", async () => (await at.state()).bodies[0].pinned.length === 0);
});
await check("formulation, integrator and step are chosen", async () => {
    await choose("sheet.toml");
    await page.selectOption("#formulation", "hybrid");
    await until("hybrid", async () => (await at.state()).bodies[0].formulation === "hybrid");
    await page.selectOption("#formulation", "implicit");
    await page.selectOption("#integrator", "implicit-midpoint");
    await until("midpoint", async () => (await at.state()).bodies[0].integrator === "implicit-midpoint");
    await page.fill("#dt", "0.002"); await page.press("#dt", "Enter");
    await until("shorter steps", async () => (await at.state()).dt === 0.002);
    await playing(true); await until("it runs", async () => (await at.status()).sim_time > 0.2);
    await page.selectOption("#formulation", "primal");
    await until("primal while it moves", async () => (await at.state()).bodies[0].formulation === "primal");
    await page.selectOption("#integrator", "momentum");
    await until("a refusal as a sentence", async () => /integrator/.test(await page.textContent("#message")));
    await picture(page, "refused");
    await playing(false);
});
await check("material sliders change the card, live, and check has a word", async () => {
    await choose("sheet.toml");
    await playing(true);
    await until("it runs", async () => (await at.status()).sim_time > 0.1);
    const before = (await at.state()).bodies[0].material;
    for (const key of ["young", "damping"]) {
        const bar = await page.locator(`#m-${key}`).boundingBox();
        await page.mouse.click(bar.x + bar.width * 0.8, bar.y + bar.height / 2);
        await until(key, async () => (await at.state()).bodies[0].material[key] > 2 * before[key]);
    }
    expect(/Pa/.test(await page.locator("#m-young + output").textContent()), "units");
    const stiff = (await at.state()).bodies[0].material.young;
    expect(stiff > 1e6, `young ${stiff}`);
    await playing(false);
    await page.click("#reset");
    await until("the start", async () => (await at.state()).at_start);
    const bar = await page.locator("#m-young").boundingBox();
    await page.mouse.click(bar.x + bar.width * 0.85, bar.y + bar.height / 2);
    await until("stiff in the text", async () => (await at.state()).bodies[0].material.young > 1e9);
    await page.selectOption("#formulation", "spring");
    await until("a warning", async () => /UNSTABLE/.test(await page.textContent("#checks")), 30000);
    await page.locator("#d-checks").scrollIntoViewIfNeeded();
    await picture(page, "checked");
});
await check("obstacles are added, moved and removed from the menu", async () => {
    await choose("sheet.toml");
    for (const kind of ["ellipsoid", "torus", "hyperboloid", "plane", "sphere", "box"]) {
        await page.selectOption("#obstacle-kind", kind);
        await page.click("#obstacle-add");
        await until(kind, async () => (await at.state()).obstacles.some(o => o.kind === kind && !o.removed));
    }
    await sleep(300);
    await picture(page, "obstacles");
    await page.fill("#o-sphere-1-y", "0.5"); await page.press("#o-sphere-1-y", "Enter");
    await until("moved", async () => (await at.state()).obstacles.find(o => o.name === "sphere-1").position[1] === 0.5);
    for (const kind of ["ellipsoid", "torus", "hyperboloid", "plane", "box"]) await page.click(`[aria-label="Remove ${kind}-1"]`);
    await until("removed", async () => (await at.state()).obstacles.filter(o => !o.removed).length === 1);
    await playing(true);
    await until("it touches", async () => page.evaluate(() => window.studio.contacts() > 0), 20000);
    await page.selectOption("#obstacle-kind", "torus");
    await page.click("#obstacle-add");
    await until("added while it moves", async () => (await at.state()).obstacles.some(o => o.name === "torus-1"));
    await page.fill("#o-sphere-1-x", "0.3"); await page.press("#o-sphere-1-x", "Enter");
    await until("moved while it moves", async () => (await at.state()).obstacles.find(o => o.name === "sphere-1").position[0] === 0.3);
    await picture(page, "contacts");
    await playing(false);
});
await check("thrusters push while a key is held", async () => {
    await choose("thrown-book");
    await playing(true);
    await page.locator("#view").focus();
    await page.keyboard.down("ArrowUp");
    await until("thrust", async () => (await at.state()).bodies[0].thrusts.length === 1);
    const push = (await at.state()).bodies[0].thrusts[0].newtons;
    expect(push[1] > 0 && push[0] === 0, JSON.stringify(push));
    await page.keyboard.up("ArrowUp");
    await until("no thrust", async () => (await at.state()).bodies[0].thrusts.length === 0);
    await playing(false);
});
await check("wireframe, lattice, stretch colours, contacts, velocity arrows", async () => {
    await choose("sheet.toml");
    await playing(true); await sleep(400);
    for (const key of ["wireframe", "lattice", "stretch", "velocities"]) {
        await page.locator("#d-show").scrollIntoViewIfNeeded();
        await page.check(`#show-${key}`);
        if (key === "wireframe") await page.uncheck("#show-shaded");
        await sleep(300);
        await picture(page, `show-${key}`);
    }
    expect(await page.evaluate(() => window.studio.colours()) === 121, "stretch is sent");
    expect(await page.evaluate(() => window.studio.velocities()) === 363, "velocities are sent");
    await playing(false);
});
await check("the energy account is plotted, and speed is a multiple of real time", async () => {
    await choose("sheet.toml");
    const bar = await page.locator("#speed").boundingBox();
    await page.mouse.click(bar.x + bar.width * 0.34, bar.y + bar.height / 2);
    const speed = await until("slow motion", async () => { const s = (await at.state()).speed; return s < 0.5 && s; });
    await playing(true);
    await sleep(500);
    const t0 = (await at.status()).sim_time, w0 = Date.now();
    await sleep(1500);
    const rate = ((await at.status()).sim_time - t0) / ((Date.now() - w0) / 1000);
    expect(Math.abs(rate - speed) < 0.3 * speed, `asked ${speed}, got ${rate}`);
    expect(await page.evaluate(() => window.studio.rows()) > 10, "rows of the plot");
    await page.locator("#d-energy").scrollIntoViewIfNeeded();
    await sleep(300);
    await picture(page, "energy");
    await playing(false);
    return `${rate.toFixed(3)}× for ${speed}×`;
});
await check("Flatland: a drawn curve becomes a body between walls", async () => {
    await choose("flatland");
    await tool("draw");
    const stage = await page.locator("#view").boundingBox();
    const cx = stage.x + stage.width / 2, cy = stage.y + stage.height * 0.4;
    await page.mouse.move(cx + 70, cy);
    await page.mouse.down();
    for (let k = 1; k <= 40; k++) {
        const a = k / 40 * 2 * Math.PI, r = 70 * (1 + 0.25 * Math.sin(3 * a));
        await page.mouse.move(cx + r * Math.cos(a), cy + r * Math.sin(a));
    }
    await picture(page, "drawing");
    await page.mouse.up();
    const state = await until("a body", async () => { const s = await at.state(); return s.bodies.length === 2 && s; });
    expect(state.bodies[1].name === "drawn-1" && state.text.includes("closed = true"), "in the text");
    await page.selectOption("#body", "1");
    await page.locator("#d-show").scrollIntoViewIfNeeded();
    await page.check("#show-strobe"); await page.check("#show-path");
    await playing(true);
    await tool("drag");
    await sleep(250);
    await dragBy(1, 0, 90, -60, { hold: 250 });
    await page.mouse.up();
    await until("strobes", () => page.evaluate(() => window.studio.ghosts() >= 6), 20000);
    expect(await page.evaluate(() => window.studio.trail() > 30), "a path");
    await picture(page, "flatland");
    const now = await at.state();
    for (const [x, y] of now.positions[0].flat()) expect(x > -1.05 && x < 1.05 && y > -0.05 && y < 2.05, `${x}, ${y} is outside the walls`);
    await playing(false);
});
await check("side by side: two formulations under one mouse", async () => {
    await choose("flatland");
    await page.locator("#d-body").scrollIntoViewIfNeeded();
    await page.selectOption("#compare", "spring");
    await until("two panes", async () => (await at.state()).positions.length === 2);
    await until("two pictures", () => page.evaluate(() => window.studio.panes() === 2));
    await playing(true);
    await sleep(300);
    await dragBy(0, 10, 60, -50, { pane: 1, hold: 500 });
    await picture(page, "side-by-side");
    await page.mouse.up();
    const state = await at.state();
    await playing(false);
    const mean = k => state.positions[k][0].reduce((s, p) => s + p[0], 0) / state.positions[k][0].length;
    expect(state.recorded > 3, "recorded");
    expect(Math.abs(mean(0) - mean(1)) < 0.5 && JSON.stringify(state.positions[0]) !== JSON.stringify(state.positions[1]), "both moved, each its own way");
});
await check("what was played is saved with its comments and replays to the same hash", async () => {
    await choose("sheet.toml");
    await tool("pin");
    let p = await pixel(page, 0, 120);
    await page.mouse.click(p.x, p.y);
    await until("a pin in the text", async () => (await at.state()).bodies[0].pinned.includes(120));
    await tool("drag");
    await playing(true);
    await sleep(300);
    await dragBy(0, center, 40, -120, { hold: 300 });
    await page.mouse.up();
    const bar = await page.locator("#m-young").boundingBox();
    await page.mouse.click(bar.x + bar.width * 0.6, bar.y + bar.height / 2);
    await page.selectOption("#obstacle-kind", "sphere");
    await page.click("#obstacle-add");
    await page.locator("#view").focus();
    await page.keyboard.down("ArrowRight"); await sleep(200); await page.keyboard.up("ArrowRight");
    await page.locator("#d-body").scrollIntoViewIfNeeded();
    await page.selectOption("#formulation", "spring");
    await sleep(300);
    await playing(false);
    await page.locator("#d-keep").scrollIntoViewIfNeeded();
    await page.fill("#file", "played");
    await page.click("#save");
    await until("a word on it", async () => /saved/.test(await page.textContent("#message")));
    await picture(page, "saved");
    const text = readFileSync(join(at.folder, "played.toml"), "utf8");
    for (const comment of ["this comment stays", "# the only one", "# soft", "# held at two corners"]) expect(text.includes(comment), `kept: ${comment}`);
    for (const word of ["[[event]]", "grab = ", "release = ", "thrust = ", "[event.add]", "formulation = {", "parameter = {"]) expect(text.includes(word), `has ${word}`);
    const live = await at.status();
    const again = run(at.folder, "played.toml");
    expect(again.state_hash === live.state_hash, `${again.state_hash} is not ${live.state_hash} (t = ${again.sim_seconds}, ${live.sim_time})`);
    return `${(await at.state()).recorded} events, ${live.sim_time.toFixed(2)} s, ${live.state_hash.slice(0, 8)}`;
});
await check("the recorded frames go out by every exporter", async () => {
    const formats = (await at.state()).formats;
    for (const format of formats) {
        await page.selectOption("#format", format);
        await page.click("#export");
        await until(format, async () => new RegExp(` ${format} files`).test(await page.textContent("#message")), 60000);
        const out = join(at.folder, "out/sheet-studio/export", format);
        expect(existsSync(out) && readdirSync(out).length > 0, out);
    }
    return formats.join(" ");
});
await check("undo takes back a drag, a pin and an edit of the text", async () => {
    await choose("sheet.toml");
    const pins = (await at.state()).bodies[0].pinned.length;
    await tool("pin");
    const p = await pixel(page, 0, 60);
    await page.mouse.click(p.x, p.y);
    await until("one more", async () => (await at.state()).bodies[0].pinned.length === pins + 1);
    await page.keyboard.press("Control+z");
    await until("one less", async () => (await at.state()).bodies[0].pinned.length === pins);
    await tool("drag");
    await playing(true); await sleep(300); await playing(false);
    const before = await at.status();
    await playing(true);
    await dragBy(0, center, 0, -60, { hold: 200 });
    await page.mouse.up();
    await playing(false);
    await page.click("#undo");
    const after = await until("before the drag", async () => { const s = await at.state(); return s.recorded === 0 && s; });
    expect(after.sim_time >= before.sim_time && after.sim_time < before.sim_time + 1.5, `${after.sim_time}`);
});
await check("keyboard alone reaches every control", async () => {
    await choose("sheet.toml");
    const reached = new Set();
    await page.locator("#scene").focus();
    for (let k = 0; k < 120; k++) {
        reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.value));
        await page.keyboard.press("Tab");
    }
    for (const id of ["play", "step", "reset", "speed", "view", "body", "formulation", "integrator", "dt", "compare", "m-young", "pin-selected", "obstacle-kind", "obstacle-add", "gravity", "thrust", "show-stretch", "file", "save", "format", "export", "scrub"]) {
        expect(reached.has(id), `${id} is not reached by Tab`);
    }
});
await check("legible in the dark and on a large screen; no request leaves the machine; no errors", async () => {
    const dark = await open(at, { width: 1920, height: 1080, dark: true });
    await sleep(500);
    await picture(dark, "dark-large");
    expect(dark.strangers.length === 0 && page.strangers.length === 0, [...dark.strangers, ...page.strangers].join());
    expect(dark.faults.length === 0 && page.faults.length === 0, [...dark.faults, ...page.faults].join());
    // Nothing is wider than the window.
    for (const p of [page, dark]) expect(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling");
    await dark.close();
});
await check("a lost connection is said and comes back", async () => {
    const port = at.url.port;
    at.child.kill();
    await page.waitForFunction(() => /connection/.test(document.querySelector("#message").textContent));
    await picture(page, "lost");
    const again = await studio("sheet.toml", { folder: at.folder, port });
    try {
        await until("connected again", () => page.evaluate(() => !/connection/.test(document.querySelector("#message").textContent)), 20000);
        await page.click("#play");
        await until("and it obeys", async () => (await again.status()).playing);
    } finally { again.stop(); }
});

at.stop();
await close();
process.exit(finish() ? 0 : 1);
