// Plays on and on, with drags, and watches the memory: node soak.mjs SECONDS
import { readFileSync } from "node:fs";
import { check, close, expect, finish, open, pixel, sleep, studio } from "./lib.mjs";

const seconds = Number(process.argv[2] ?? 120);
// The record must be full before memory is compared, so it is small here.
const at = await studio("four-corners", { args: ["--memory", "24"] });
const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${at.pid}/status`, "utf8"))[1]) / 1024;

await check(`${seconds} s of play: memory stays`, async () => {
    const page = await open(at);
    await page.click("#play");
    const start = Date.now(), settle = Math.min(300, seconds * 0.4);
    let base = 0, most = 0, drags = 0;
    while (Date.now() - start < 1000 * seconds) {
        const p = await pixel(page, 0, 12 + (drags % 40));
        if (p) {
            await page.mouse.move(p.x, p.y);
            await page.mouse.down();
            await page.mouse.move(p.x + 60, p.y - 40, { steps: 10 });
            await page.mouse.up();
            drags++;
        }
        // A record of every drag for ever would be a growing scene: begin anew now and then.
        if (drags % 20 === 19) { await page.click("#reset"); await page.click("#play"); drags++; }
        await sleep(400);
        const now = resident();
        if ((Date.now() - start) / 1000 < settle) base = Math.max(base, now);
        else most = Math.max(most, now);
    }
    const status = await at.status();
    expect(status.playing, "it still plays");
    const note = `${base.toFixed(0)} MB at first, at most ${most.toFixed(0)} MB later, ${drags} drags`;
    expect(most < 1.05 * base, note);
    return note;
});
at.stop();
await close();
process.exit(finish() ? 0 : 1);
