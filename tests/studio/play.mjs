// Everything one can do, done with the mouse and the keys of a real browser, and asked of the engine.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, close, expect, faint, finish, open, picture, pixel, run, studio, until } from "./lib.mjs";
import { hands } from "./hands.mjs";

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
const me = hands(page, at);
const center = 60;
const body = async (number = 0) => (await at.state()).bodies[number];
const height = async (node, pane = 0) => (await at.state()).positions[pane][0][node][1];
const untilState = (what, is, ms) => until(what, async () => { const s = await at.state(); return is(s) && s; }, ms);

await check("a scene is chosen from the list", async () => {
    await me.choose("sheet.toml");
    expect((await body()).nodes === 121, "121 nodes");
    await picture(page, "chosen");
});
await check("play, pause, step, reset, by buttons and by keys", async () => {
    await me.playFor(0.3);
    const before = await at.status();
    // Paused means paused: nothing moves while the engine answers a dozen questions.
    for (let k = 0; k < 12; k++) expect((await at.state()).state_hash === before.state_hash, "it moves while paused");
    await page.click("#step");
    await until("one frame", async () => (await at.status()).frame === before.frame + 1);
    await page.keyboard.press(".");
    await until("another by key", async () => (await at.status()).frame === before.frame + 2);
    await me.reset();
    expect((await at.status()).sim_time === 0, "at the start");
    await page.locator("#view").focus();
    await page.keyboard.press(" ");
    await until("play by key", async () => (await at.status()).playing);
    await page.keyboard.press(" ");
    await until("pause by key", async () => !(await at.status()).playing);
    await page.keyboard.press("Home");
    await until("start by key", async () => (await at.status()).sim_time === 0);
});
await check("scrub back through a record that says how far it goes, and go on from there", async () => {
    await me.playFor(1.2);
    const last = (await at.status()).frame;
    const bar = await page.locator("#scrub").boundingBox();
    await page.mouse.click(bar.x + bar.width * 0.4, bar.y + bar.height / 2);
    const { viewing } = await untilState("an earlier frame", s => s.viewing);
    expect(viewing > 2 && viewing < last - 2, `frame ${viewing} of ${last}`);
    await until("how far back", async () => /kept from 0.00 to [1-9.]+ s · \d+ of 512 MB/.test(await page.textContent("#range")));
    await picture(page, "scrubbed");
    await page.click("#branch");
    const now = await untilState("back there", s => s.viewing === null);
    expect(now.frame === viewing && Math.abs(now.sim_time - viewing / 24) < 0.01, `at frame ${now.frame}, ${now.sim_time} s`);
});
await check("a full record drops its oldest frames and says so", async () => {
    const small = await studio("four-corners", { args: ["--memory", "1"] });
    try {
        const other = await open(small);
        await other.click("#play");
        await until("a record that begins later", async () => (await small.state()).record.first > 0, 60000);
        const said = await until("its reach", async () => { const m = /kept from ([\d.]+) to .* of 1 MB/.exec(await other.textContent("#range")); return m && Number(m[1]) > 0 && m[0]; });
        const { bytes, limit } = (await small.state()).record;
        expect(bytes <= limit, `${bytes} bytes of ${limit}`);
        await other.close();
        return said;
    } finally { small.stop(); }
});
await check("orbit by dragging the background and by the tool, wheel to come nearer, pan", async () => {
    await me.choose("sheet.toml");
    const angles = () => page.evaluate(() => window.studio.angles());
    const before = await angles();
    await me.draw([[60, 300], [160, 340]]);
    const after = await angles();
    expect(Math.abs(after[0] - before[0]) > 0.1 && Math.abs(after[1] - before[1]) > 0.1, "turned by the background");
    const hash = (await at.status()).state_hash;
    await me.tool("orbit");
    const p = await pixel(page, 0, center);
    await me.draw([[p.x, p.y], [p.x - 80, p.y]]);
    expect((await angles())[0] > after[0] + 0.1, "turned by the tool, on the model");
    expect((await at.status()).state_hash === hash && (await at.state()).recorded === 0, "looking changes nothing");
    await page.mouse.wheel(0, 200);
    await until("further away", () => page.evaluate(d => window.studio.angles()[2] > d, after[2]));
    const here = await pixel(page, 0, center);
    await me.draw([[300, 300], [340, 320]], { button: "middle" });
    const there = await pixel(page, 0, center);
    expect(Math.abs(there.x - here.x - 40) < 15 && Math.abs(there.y - here.y - 20) < 15, `panned by ${there.x - here.x}, ${there.y - here.y}`);
});
await check("a node is dragged by the mouse and let go", async () => {
    await me.choose("sheet.toml");
    await me.playing(true);
    await until("it hangs", async () => await height(center) < 0.95);
    const start = await height(center);
    const { nodes: [node] } = await me.takeNode(0, center, 0, -150);
    const lifted = await until("it follows", async () => { const y = await height(node); return y > start + 0.1 && y; });
    await picture(page, "dragged");
    await me.letGo();
    await until("it falls", async () => await height(node) < lifted - 0.1);
    await me.playing(false);
    const text = (await at.state()).text;
    expect(/grab = /.test(text) && /release = /.test(text), "recorded as events");
});
await check("nodes are pinned and unpinned by clicking on the model", async () => {
    await me.choose("sheet.toml");
    await me.tool("pin");
    await me.clickNode(65);
    await untilState("pinned", s => s.bodies[0].pinned.includes(65) && s.text.includes("index = [65]"));
    await me.settled();
    await me.clickNode(65);
    await untilState("free", s => !s.bodies[0].pinned.includes(65));
    await me.playFor(0.4);
    await me.clickNode(50);
    await untilState("pinned while it moves", s => s.bodies[0].pinned.includes(50) && s.recorded === 1);
    const place = (await at.state()).positions[0][0][50];
    await me.playFor(0.3);
    const now = await at.state();
    expect(String(now.positions[0][0][50]) === String(place), "a pinned node stays");
});
await check("nodes are pinned on the picture of material coordinates", async () => {
    await me.choose("sheet.toml");
    await page.locator("#grid").scrollIntoViewIfNeeded();
    const p = await page.evaluate(() => window.studio.gridPixel(115));
    await page.mouse.click(p.x, p.y);
    await untilState("pinned", s => s.bodies[0].pinned.includes(115));
    await until("its mark", () => page.evaluate(() => window.studio.gridPinned().includes(115)));
    await picture(page, "grid");
    await page.mouse.click(p.x, p.y);
    await untilState("free", s => !s.bodies[0].pinned.includes(115));
});
await check("a box selects, and the selection is pinned and let go", async () => {
    await me.choose("sheet.toml");
    await me.tool("box");
    await me.boxSelect(0.5);
    await picture(page, "box");
    await page.mouse.up();
    const count = await page.evaluate(() => window.studio.selected());
    expect(count > 20 && count < 121, `${count} selected`);
    await page.click("#pin-selected");
    await untilState("pinned", s => s.bodies[0].pinned.length >= count);
    await me.settled();
    expect(await page.evaluate(() => window.studio.selected()) === count, "the selection stays");
    await me.boxSelect(1);
    await page.mouse.up();
    expect(await page.evaluate(() => window.studio.selected()) === 121, "all selected");
    await page.click("#unpin-selected");
    await untilState("none left", s => s.bodies[0].pinned.length === 0);
});
await check("formulation, integrator and step are chosen, before and while it runs", async () => {
    await me.choose("sheet.toml");
    await page.selectOption("#formulation", "hybrid");
    await untilState("hybrid", s => s.bodies[0].formulation === "hybrid");
    await page.selectOption("#formulation", "implicit");
    await page.selectOption("#integrator", "implicit-midpoint");
    await untilState("midpoint", s => s.bodies[0].integrator === "implicit-midpoint");
    await me.type("#dt", "0.002");
    await untilState("shorter steps", s => s.dt === 0.002 && s.text.includes("dt = 0.002"));
    await me.playing(true);
    await until("it runs", async () => (await at.status()).sim_time > 0.2);
    await page.selectOption("#formulation", "primal");
    await untilState("primal while it moves", s => s.bodies[0].formulation === "primal");
    const { sim_time } = await at.status();
    await me.type("#dt", "0.004");
    const now = await untilState("longer steps while it moves", s => s.dt === 0.004);
    expect(now.sim_time >= sim_time, "time goes on");
    await page.selectOption("#integrator", "momentum");
    await until("a refusal as a sentence", async () => /integrator/.test(await me.say()));
    await picture(page, "refused");
    await me.playing(false);
});
await check("material sliders change the card, live, with units; check has a word", async () => {
    await me.choose("sheet.toml");
    await me.playing(true);
    await until("it runs", async () => (await at.status()).sim_time > 0.1);
    const before = (await body()).material;
    for (const key of ["young", "damping", "density"]) {
        await me.slide(`#m-${key}`, 0.8);
        await until(key, async () => (await body()).material[key] > 2 * before[key]);
    }
    await me.playing(false);
    const stiff = (await body()).material.young;
    await until("units", async () => /e\+\d+ Pa$/.test(await page.locator("#m-young + output").textContent()));
    expect(stiff > 1e6, `young ${stiff}`);
    await me.reset();
    await me.slide("#m-young", 0.9);
    await untilState("stiff in the text", s => s.bodies[0].material.young > 1e9 && s.at_start);
    await page.selectOption("#formulation", "spring");
    await until("a warning", async () => /UNSTABLE/.test(await page.textContent("#checks")), 60000);
    await page.locator("#d-checks").scrollIntoViewIfNeeded();
    await picture(page, "checked");
    await page.selectOption("#formulation", "implicit");
    await until("no warning any more", async () => !/UNSTABLE/.test(await page.textContent("#checks")), 60000);
});
await check("obstacles are added from the menu, moved and removed", async () => {
    await me.choose("sheet.toml");
    const kinds = ["ellipsoid", "torus", "hyperboloid", "plane", "sphere", "box"];
    for (const kind of kinds) {
        await page.selectOption("#obstacle-kind", kind);
        await page.click("#obstacle-add");
        await untilState(kind, s => s.obstacles.some(o => o.kind === kind && !o.removed));
    }
    await me.settled();
    await picture(page, "obstacles");
    await me.type("#o-sphere-1-y", "0.5");
    await until("moved by a number", async () => (await me.obstacle("sphere-1")).position[1] === 0.5);
    await me.type("#o-sphere-1-x", "0");
    await until("moved by another", async () => (await me.obstacle("sphere-1")).position[0] === 0);
    for (const kind of kinds.filter(k => k !== "sphere" && k !== "plane")) await page.click(`[aria-label="Remove ${kind}-1"]`);
    await untilState("removed", s => s.obstacles.filter(o => !o.removed).length === 2);
    await me.settled();
    await me.dragObstacle("sphere-1", 60, -30);
    const moved = await until("drawn by the mouse", async () => { const o = await me.obstacle("sphere-1"); return o.position[1] > 0.52 && o; });
    expect(moved.position[0] > 0.02 && (await at.state()).at_start, `in the text: ${moved.position}`);
    await me.tool("move");
    const floor = (await me.obstacle("plane-1")).position[1];
    await me.settled();
    await me.dragObstacle("plane-1", 0, 60, [-0.8, 0, -0.4]);
    const [x, , z] = (await until("the floor is lower", async () => { const o = await me.obstacle("plane-1"); return o.position[1] < floor - 0.05 && o; })).position;
    expect(x === 0 && z === 0, `a floor goes up and down only: ${x}, ${z}`);
    await me.tool("drag");
    await me.playing(true);
    await until("it touches", async () => page.evaluate(() => window.studio.shown().contacts > 0), 30000);
    await page.selectOption("#obstacle-kind", "torus");
    await page.click("#obstacle-add");
    await until("added while it moves", () => me.obstacle("torus-1"));
    await me.type("#o-torus-1-y", "0.9");
    await until("it goes up", async () => (await me.obstacle("torus-1")).position[1] === 0.9);
    await me.type("#o-torus-1-x", "0.7");
    await until("moved while it moves", async () => (await me.obstacle("torus-1")).position[0] === 0.7);
    await picture(page, "contacts");
    await until("its picture", () => page.evaluate(() => Math.abs(window.studio.obstacle("torus-1")[0] - 0.7) < 1e-6));
    await me.tool("move");
    await me.dragObstacle("torus-1", 70, 0, [0.16, 0, 0]);
    await until("drawn while it moves", async () => (await me.obstacle("torus-1")).position[0] > 0.8);
    await page.click(`[aria-label="Remove torus-1"]`);
    await untilState("removed while it moves", s => s.obstacles.find(o => o.name === "torus-1").removed);
    await me.playing(false);
    expect(/\[event.add\]/.test((await at.state()).text), "recorded");
});
await check("thrusters push while a key is held, the body or the selection", async () => {
    await me.choose("thrown-book");
    await me.playing(true);
    await page.locator("#view").focus();
    await page.keyboard.down("ArrowUp");
    const { newtons } = (await untilState("thrust", s => s.bodies[0].thrusts.length === 1)).bodies[0].thrusts[0];
    expect(newtons[1] > 0 && newtons[0] === 0, JSON.stringify(newtons));
    await page.keyboard.down("ArrowRight");
    await untilState("both", s => s.bodies[0].thrusts.some(t => t.newtons[0] > 0 && t.newtons[1] > 0));
    await page.keyboard.up("ArrowRight");
    const speed = s => s.velocities[0].reduce((sum, v) => sum + v[1], 0) / s.velocities[0].length;
    const before = await at.state(), wait = before.sim_time + 0.2;
    const after = await untilState("a while of thrust", s => s.sim_time > wait);
    const gained = (speed(after) - speed(before)) / (after.sim_time - before.sim_time);
    expect(gained > 5, `twice its weight lifts it: ${gained} m/s²`);
    await page.keyboard.up("ArrowUp");
    await untilState("no thrust", s => s.bodies[0].thrusts.length === 0);
    await me.choose("sheet.toml");
    await me.tool("box");
    await me.boxSelect(0.5);
    await page.mouse.up();
    const chosen = await page.evaluate(() => window.studio.selected());
    await page.locator("#view").focus();
    await page.keyboard.down("ArrowUp");
    await untilState("thrust on the selection", s => s.bodies[0].thrusts[0]?.nodes === chosen);
    await page.keyboard.up("ArrowUp");
    await untilState("no thrust", s => s.bodies[0].thrusts.length === 0);
});
await check("wireframe, shaded, lattice, stretch colours, contacts, velocity arrows", async () => {
    await me.choose("sheet.toml");
    await page.selectOption("#obstacle-kind", "sphere");
    await page.click("#obstacle-add");
    await untilState("a sphere", s => s.obstacles.length === 1);
    await me.type("#o-sphere-1-y", "0.75");
    await until("below it", async () => (await me.obstacle("sphere-1")).position[1] === 0.75);
    await me.playFor(0.5);
    const looks = async (what, is) => until(what, async () => is(await me.shown()));
    const touching = (await at.state()).contacts.length;
    expect(touching > 0, "it touches the sphere");
    await looks("shaded, with contacts", s => s.shaded && !s.lattice && !s.coloured && s.arrows === 0 && s.contacts === touching);
    await page.uncheck("#show-contacts");
    await looks("no contacts", s => s.contacts === 0);
    await page.check("#show-wireframe");
    await page.uncheck("#show-shaded");
    await looks("wireframe", s => s.wireframe && !s.shaded);
    await picture(page, "show-wireframe");
    await page.uncheck("#show-wireframe");
    await page.check("#show-lattice");
    await looks("lattice alone", s => s.lattice && !s.wireframe && !s.shaded);
    await picture(page, "show-lattice");
    await page.check("#show-shaded");
    await page.check("#show-stretch");
    await looks("colours", s => s.coloured && s.shaded);
    expect(await page.evaluate(() => window.studio.colours()) === 121, "stretch is sent");
    await picture(page, "show-stretch");
    await page.check("#show-velocities");
    await looks("an arrow for every node", s => s.arrows === 121);
    const sent = await page.evaluate(n => window.studio.velocity(n), center), own = (await at.state()).velocities[0][center];
    expect(sent.every((v, k) => Math.abs(v - own[k]) < 1e-6), `velocity ${sent} is ${own}`);
    await picture(page, "show-velocities");
});
await check("the energy account is plotted, and speed is a multiple of real time", async () => {
    await me.choose("sheet.toml");
    await me.slide("#speed", 0.5);
    const { speed } = await untilState("slow motion", s => s.speed < 0.5);
    await me.playing(true);
    await until("it runs", async () => (await at.status()).sim_time > 0.1);
    const [t0, w0] = [(await at.status()).sim_time, performance.now()];
    await until("half a second", async () => (await at.status()).sim_time > t0 + 0.4);
    const rate = ((await at.status()).sim_time - t0) / ((performance.now() - w0) / 1000);
    expect(Math.abs(rate - speed) < 0.3 * speed, `asked ${speed}, got ${rate}`);
    await page.locator("#d-energy").scrollIntoViewIfNeeded();
    await me.playing(false);
    const { energies, sim_time } = await at.state(), row = await page.evaluate(() => window.studio.ledger());
    expect(await page.evaluate(() => window.studio.rows()) > 10, "rows of the plot");
    expect(Math.abs(row.time - sim_time) < 0.02, `the plot ends at ${row.time}, time is ${sim_time}`);
    if (row.time === sim_time) for (const k of energies.keys()) expect(Math.abs(row.values[k] - energies[k]) < 1e-9, `energy ${k}: ${row.values[k]} is not ${energies[k]}`);
    await until("lines on the plot", () => page.evaluate(() => window.studio.inked("plot")));
    await picture(page, "energy");
    await me.slide("#speed", 0.667);
    await untilState("about real time", s => s.speed > 0.8 && s.speed < 1.25);
    return `${rate.toFixed(3)}× for ${speed}×`;
});
await check("Flatland: a drawn curve becomes a body between walls; gravity, drag, mouse, strobe, path", async () => {
    await me.choose("flatland");
    await me.tool("draw");
    await me.drawCurve({ release: false });
    await picture(page, "drawing");
    await page.mouse.up();
    const state = await untilState("a body", s => s.bodies.length === 2);
    expect(state.bodies[1].name === "drawn-1" && state.text.includes("closed = true"), "in the text");
    await me.settled();
    await page.selectOption("#body", "1");
    await page.check("#show-strobe"); await page.check("#show-path");
    await me.slide("#gravity", 0.1);
    await untilState("more gravity, in the text", s => s.gravity[1] < -12 && /gravity = \[0.0, -1[2-9]/.test(s.text));
    await me.slide("#m-drag", 0.3);
    await untilState("drag of the air", s => s.bodies[1].material.drag > 1);
    await me.tool("drag");
    await me.playing(true);
    const x = async () => { const p = (await at.state()).positions[0][1]; return p.reduce((s, q) => s + q[0], 0) / p.length; };
    const before = await x();
    await me.takeNode(1, 0, 120, -60);
    await until("the mouse moves it", async () => await x() > before + 0.1);
    await me.letGo(1);
    await until("strobes", () => page.evaluate(() => window.studio.ghosts() >= 6), 30000);
    await until("a path", async () => (await me.shown()).path > 10);
    expect((await me.shown()).pointer, "the velocity of the centre of mass is an arrow");
    await picture(page, "flatland");
    const now = await at.state();
    for (const [x, y] of now.positions[0].flat()) expect(x > -1.05 && x < 1.05 && y > -0.05 && y < 2.05, `${x}, ${y} is outside the walls`);
    await me.playing(false);
});
await check("Flatland: a drawn curve takes the place of a body", async () => {
    await me.choose("flatland");
    const old = (await at.state()).positions[0][0].length;
    await page.selectOption("#drawn", "instead");
    await me.tool("draw");
    await me.drawCurve({ radius: 110, lobes: 5, up: 0.5 });
    const state = await untilState("another shape", s => s.positions[0][0].length !== old);
    expect(state.bodies.length === 1 && state.bodies[0].name === "hoop" && state.bodies[0].material.young === 6e6, JSON.stringify(state.bodies[0]));
    await me.settled();
    await picture(page, "drawn-instead");
    await me.playFor(0.3);
    expect((await at.state()).failure === null, "it runs");
    await page.keyboard.press("Control+z");
    await untilState("the hoop again", s => s.positions[0][0].length === old);
});
await check("side by side: two formulations under one mouse", async () => {
    await me.choose("flatland");
    await page.selectOption("#compare", "spring");
    await untilState("two panes", s => s.positions.length === 2);
    await until("two pictures", () => page.evaluate(() => window.studio.panes() === 2));
    await me.settled();
    await me.playing(true);
    const middle = (s, k) => [0, 1].map(axis => s.positions[k][0].reduce((sum, p) => sum + p[axis], 0) / s.positions[k][0].length);
    const before = await at.state();
    await me.takeNode(0, 10, 40, -140, 1);
    const held = await untilState("both are held and follow", s => String(s.grabs) === "1,1" && [0, 1].every(k => middle(s, k)[1] > middle(before, k)[1] + 0.1));
    await picture(page, "side-by-side");
    await me.letGo();
    await me.playing(false);
    expect(held.recorded > 2, "recorded");
    expect(JSON.stringify(held.positions[0]) !== JSON.stringify(held.positions[1]), "each its own way");
    await page.selectOption("#compare", "");
    await untilState("alone again", s => s.positions.length === 1);
});
await check("what was played is saved with its comments and replays to the same hash", async () => {
    await me.choose("sheet.toml");
    await me.tool("pin");
    await me.clickNode(120);
    await untilState("a pin in the text", s => s.bodies[0].pinned.includes(120));
    await me.settled();
    await me.tool("drag");
    await me.playing(true);
    await until("it hangs", async () => (await at.status()).sim_time > 0.2);
    const start = await height(center);
    const { nodes: [node] } = await me.takeNode(0, center, 40, -120);
    await until("it follows", async () => await height(node) > start + 0.05);
    await me.letGo();
    await me.tool("pin");
    await me.clickNode(115);
    await untilState("a click is an event", s => s.bodies[0].pinned.length > 3);
    await me.slide("#m-young", 0.5);
    await until("stiffer", async () => (await body()).material.young > 1e6);
    await me.type("#dt", "0.003");
    await untilState("another step", s => s.dt === 0.003);
    await page.selectOption("#obstacle-kind", "sphere");
    await page.click("#obstacle-add");
    await until("an obstacle", () => me.obstacle("sphere-1"));
    await page.locator("#view").focus();
    await page.keyboard.down("ArrowRight");
    await untilState("thrust", s => s.bodies[0].thrusts.length === 1);
    await page.keyboard.up("ArrowRight");
    await untilState("no thrust", s => s.bodies[0].thrusts.length === 0);
    await page.selectOption("#formulation", "spring");
    const then = (await untilState("springs", s => s.bodies[0].formulation === "spring")).sim_time;
    await until("a while later", async () => (await at.status()).sim_time > then + 0.2);
    await me.playing(false);
    await page.fill("#file", "played");
    await page.click("#save");
    await until("a word on it", async () => /saved/.test(await me.say()));
    await picture(page, "saved");
    const text = readFileSync(join(at.folder, "played.toml"), "utf8");
    for (const comment of ["this comment stays", "# the only one", "# soft", "# held at two corners"]) expect(text.includes(comment), `kept: ${comment}`);
    for (const word of ["[[event]]", "grab = ", "release = ", "pin = ", "thrust = ", "[event.add]", "formulation = {", "parameter = {", `key = "dt"`]) expect(text.includes(word), `has ${word}`);
    const live = await at.status();
    const again = run(at.folder, "played.toml");
    expect(again.state_hash === live.state_hash, `${again.state_hash} is not ${live.state_hash} (t = ${again.sim_seconds}, ${live.sim_time})`);
    await page.click("#save");
    await until("no file is overwritten unasked", async () => /is there already/.test(await me.say()));
    return `${(await at.state()).recorded} events, ${live.sim_time.toFixed(2)} s, ${live.state_hash.slice(0, 8)}`;
});
await check("the recorded frames go out by every exporter", async () => {
    const formats = (await at.state()).formats;
    for (const format of formats) {
        await page.selectOption("#format", format);
        await page.click("#export");
        await until(format, async () => new RegExp(` ${format} files`).test(await me.say()), 60000);
        const out = join(at.folder, "out/sheet-studio/export", format);
        expect(existsSync(out) && readdirSync(out).length > 0, out);
    }
    return formats.join(" ");
});
await check("undo and redo: a pin, a slider, a drag", async () => {
    await me.choose("sheet.toml");
    const pins = (await body()).pinned.length;
    await me.tool("pin");
    await me.clickNode(60);
    await untilState("one more", s => s.bodies[0].pinned.length === pins + 1);
    await page.keyboard.press("Control+z");
    await untilState("one less", s => s.bodies[0].pinned.length === pins && !s.edited);
    await page.keyboard.press("Control+Shift+z");
    await untilState("one more again", s => s.bodies[0].pinned.length === pins + 1);
    await page.click("#undo");
    await untilState("one less again", s => s.bodies[0].pinned.length === pins);
    await me.slide("#m-young", 0.7);
    await until("stiffer", async () => (await body()).material.young > 1e7);
    await page.click("#undo");
    await until("soft", async () => (await body()).material.young === 2e5);
    await until("the slider goes back as well", async () => Number(await page.inputValue("#m-young")) < 0.4);
    await me.settled();
    await me.tool("drag");
    await me.playFor(0.3);
    const before = await at.status();
    await me.playing(true);
    await me.takeNode(0, center, 0, -60);
    const held = (await at.status()).sim_time;
    await until("held for a while", async () => (await at.status()).sim_time > held + 0.1);
    await me.letGo();
    await me.playing(false);
    const dragged = await at.status();
    await page.click("#undo");
    const after = await untilState("before the drag", s => s.recorded === 0);
    expect(after.sim_time >= before.sim_time && after.sim_time <= held, `${after.sim_time} is not between ${before.sim_time} and ${held}`);
    await page.click("#redo");
    await until("after the drag", async () => (await at.status()).state_hash === dragged.state_hash);
});
await check("several windows watch; what one holds is let go when it closes", async () => {
    await me.choose("sheet.toml");
    const second = await open(at), hers = hands(second, at);
    await me.playing(true);
    await until("it hangs", async () => (await at.status()).sim_time > 0.2);
    const { nodes: [node] } = await hers.takeNode(0, center, 0, -120);
    await until("the first sees the hold", () => page.evaluate(n => window.studio.sprung().includes(n), node));
    await second.close();
    await untilState("let go", s => s.bodies[0].grabbed.length === 0);
    const { sim_time } = await at.status();
    await until("and it plays on", async () => (await at.status()).sim_time > sim_time + 0.1);
    await me.playing(false);
});
await check("errors of the engine are sentences on the page", async () => {
    await me.choose("sheet.toml");
    await page.fill("#file", "../outside");
    await page.click("#save");
    await until("no way out of the folder", async () => /no folders/.test(await me.say()));
    expect(await page.locator("#message").getAttribute("class") === "bad", "marked as bad");
    await me.tool("draw");
    await me.drawCurve();
    await until("drawing needs a plane", async () => /drawing needs a scene in the xy plane/.test(await me.say()));
    expect((await at.state()).at_start && !(await at.state()).edited, "what is refused changes nothing");
});
await check("keyboard alone reaches every control", async () => {
    await me.choose("sheet.toml");
    const wanted = ["play", "step", "reset", "speed", "view", "body", "formulation", "integrator", "dt", "compare", "m-young", "pin-selected", "obstacle-kind", "obstacle-add", "gravity", "thrust", "show-stretch", "file", "save", "format", "export", "scrub"];
    const reached = new Set();
    await page.locator("#scene").focus();
    for (let k = 0; k < 120 && wanted.some(id => !reached.has(id)); k++) {
        reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.value));
        await page.keyboard.press("Tab");
    }
    expect(wanted.every(id => reached.has(id)), `not reached by Tab: ${wanted.filter(id => !reached.has(id))}`);
});
await check("legible in the dark and on a large screen; no request leaves the machine; no errors", async () => {
    await me.choose("sheet.toml");
    await me.playFor(0.4);
    const dark = await open(at, { width: 1920, height: 1080, dark: true });
    await hands(dark, at).settled();
    await picture(dark, "dark-large");
    const small = await open(at, { width: 1280, height: 720, dark: true });
    await hands(small, at).settled();
    await picture(small, "dark");
    for (const p of [page, dark, small]) {
        expect(p.strangers.length === 0 && p.faults.length === 0, [...p.strangers, ...p.faults].join());
        expect(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scrolling");
        // Text against what is behind it, as the guidelines for the web measure it.
        const poor = await faint(p);
        expect(poor.length === 0, `too faint: ${poor}`);
    }
    await dark.close();
    await small.close();
});
await check("a lost connection is said and comes back", async () => {
    const port = at.url.port;
    at.child.kill();
    await page.waitForFunction(() => /connection/.test(document.querySelector("#message").textContent));
    await picture(page, "lost");
    const again = await studio("sheet.toml", { folder: at.folder, port });
    try {
        await until("connected again", () => page.evaluate(() => !/connection/.test(document.querySelector("#message").textContent)), 30000);
        await page.click("#play");
        await until("and it obeys", async () => (await again.status()).playing);
    } finally { again.stop(); }
});

at.stop();
await close();
process.exit(finish() ? 0 : 1);
