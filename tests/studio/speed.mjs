// How fast: a hybrid sheet of 128 × 128 nodes, frames sent a second, drags to frames, pictures drawn.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import WebSocket from "ws";
import { check, close, expect, finish, open, picture, pixel, sleep, studio } from "./lib.mjs";

const folder = mkdtempSync(join(tmpdir(), "goop-speed-"));
writeFileSync(join(folder, "large.toml"), `format = 1
title = "128 x 128 nodes, hybrid"
[step]
dt = 0.01
[[body]]
name = "sheet"
formulation = "hybrid"
position = [0, 1, 0]
shape.rectangle = { size = [1, 1], nodes = [128, 128] }
material = { young = 1e7, thickness = 0.004, damping = 0.1 }
[[body.pin]]
at = "corners"
`);
// The figures are for a machine of one's own. Where others use it too, a process gets a share
// of a core only; what is asked for is scaled by the share that a busy loop gets now.
function measured() {
    const [start, cpu] = [performance.now(), process.cpuUsage()];
    while (performance.now() - start < 1500);
    const { user, system } = process.cpuUsage(cpu);
    return (user + system) / 1e3 / (performance.now() - start);
}
const got = measured(), share = got > 0.85 ? 1 : got / 2;
if (share < 1) console.log(`a busy loop gets ${(100 * got).toFixed(0)} % of a core here: the figures asked for are scaled`);
// Rates depend on the machine: they are reported, and asked for with GOOP_STRICT=1.
const strict = Boolean(process.env.GOOP_STRICT);
const at = await studio("large.toml", { folder });

await check("60 frames a second are sent, and a drag is seen within 30 ms", async () => {
    const ws = new WebSocket(`ws://${at.url.host}/socket`, { origin: at.url.origin });
    let frames = 0;
    ws.on("message", (data, binary) => { if (binary && data.readUInt32LE(0) === 1) frames++; });
    await new Promise(done => ws.on("open", done));
    ws.send(JSON.stringify({ do: "play" }));
    await sleep(2000);
    const [f0, t0] = [frames, Date.now()];
    await sleep(5000);
    const rate = (frames - f0) / ((Date.now() - t0) / 1000);
    for (let k = 0; k < 200; k++) {
        ws.send(JSON.stringify({ do: "grab", body: 0, node: 8256, to: [0.2 * Math.sin(k / 20), 0.8, 0.1], gesture: 1, strength: 1 }));
        await sleep(25);
    }
    ws.send(JSON.stringify({ do: "release", body: 0 }));
    await sleep(300);
    const m = await at.measures();
    const state = await at.status();
    ws.close();
    const note = `${rate.toFixed(1)} frames/s, drag median ${(1e3 * m.drag_median).toFixed(1)} ms, 95 % ${(1e3 * m.drag_p95).toFixed(1)} ms, ${state.sim_time.toFixed(1)} s simulated`;
    expect(m.drags >= 200, `only ${m.drags} drags were seen`);
    expect(rate > 5 && m.drag_p95 < 1, note);
    expect(!strict || (rate >= 57 * share && m.drag_p95 < 0.03 / share), note);
    return note;
});
await check("the page draws 15 pictures a second at 1280 × 720 in software", async () => {
    const page = await open(at);
    await sleep(1500);
    const [n0, t0] = [await page.evaluate(() => window.studio.drawn()), Date.now()];
    const p = await pixel(page, 0, 8256);
    await page.mouse.move(p.x, p.y);
    await page.mouse.down();
    for (let k = 0; k < 40; k++) { await page.mouse.move(p.x + 2 * k, p.y - k); await sleep(100); }
    const rate = (await page.evaluate(() => window.studio.drawn()) - n0) / ((Date.now() - t0) / 1000);
    await picture(page, "large");
    await page.mouse.up();
    expect(rate > 1 && (!strict || rate >= 15 * share), `${rate.toFixed(1)} pictures a second`);
    return `${rate.toFixed(1)} pictures a second`;
});
at.stop();
await close();
process.exit(finish() ? 0 : 1);
