// Plays on and on, with drags, and watches the memory: node soak.mjs SECONDS
import { readFileSync } from "node:fs";
import { check, close, expect, finish, largeSheet, open, pixel, sleep, until } from "./lib.mjs";

const seconds = Number(process.argv[2] ?? 120);
const at = await largeSheet();
const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${at.pid}/status`, "utf8"))[1]) / 1024;

await check(`${seconds} s of play: memory stays`, async () => {
    const page = await open(at);
    await page.click("#play");
    const start = Date.now(), passed = () => (Date.now() - start) / 1000;
    let drags = 0;
    const course = [];
    /// Drags a node about for so many seconds; the most memory that was seen.
    const drag = async time => {
        const end = passed() + time;
        let most = 0;
        while (passed() < end) {
            const p = await pixel(page, 0, 8256 + 5 * (drags % 9));
            await page.mouse.move(p.x, p.y);
            await page.mouse.down();
            await page.mouse.move(p.x + 60 - 20 * (drags % 7), p.y - 40, { steps: 10 });
            await page.mouse.up();
            drags++;
            await sleep(300);
            most = Math.max(most, resident());
            if (passed() > 30 * course.length) course.push(resident().toFixed(0));
        }
        return most;
    };
    // Memory is compared once the record is full: that it fills up is no leak.
    while ((await at.state()).record.first === 0) { expect(passed() < 600, "the record never fills"); await drag(5); }
    const filled = passed();
    const base = await drag(Math.max(20, Math.min(300, 0.4 * seconds) - filled));
    const most = await drag(Math.max(40, seconds - passed()));
    const before = await at.status();
    await until("it still plays", async () => (await at.status()).sim_time > before.sim_time);
    const note = `${base.toFixed(0)} MB at first, at most ${most.toFixed(0)} MB later, ${drags} drags, record full after ${filled.toFixed(0)} s; MB every 30 s: ${course.join(" ")}`;
    expect(most < 1.05 * base, note);
    return note;
});
at.stop();
await close();
process.exit(finish() ? 0 : 1);
