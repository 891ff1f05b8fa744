// What the studio's tests share: a studio of their own, a real browser, and a list of checks.
import { spawn, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
export const goop = process.env.GOOP ?? join(target, "release/goop");
export const pictures = join(target, "studio-pictures");
mkdirSync(pictures, { recursive: true });

export const sleep = ms => new Promise(done => setTimeout(done, ms));

let passed = 0, failed = 0;
export async function check(name, act) {
    const only = process.env.ONLY;
    if (only && !name.includes(only)) return;
    const start = Date.now();
    try {
        const note = await act();
        passed++;
        console.log(`ok      ${name} (${((Date.now() - start) / 1000).toFixed(1)} s${note ? `; ${note}` : ""})`);
    } catch (error) {
        failed++;
        console.log(`FAILED  ${name}: ${error.stack ?? error}`);
    }
}
export function finish() {
    console.log(`${passed} passed, ${failed} failed`);
    return failed === 0 && passed > 0;
}
export function expect(fine, sentence) { if (!fine) throw new Error(sentence); }

/// Asks until the answer is yes.
export async function until(what, ask, ms = 15000) {
    const end = Date.now() + ms;
    let last;
    while (Date.now() < end) {
        last = await ask();
        if (last) return last;
        await sleep(40);
    }
    throw new Error(`never came: ${what}`);
}

/// A studio in an empty folder.
export async function studio(scene, { folder = mkdtempSync(join(tmpdir(), "goop-studio-")), args = [], port = "0" } = {}) {
    const child = spawn(goop, ["studio", ...(scene ? [scene] : []), "--port", port, "--no-open", ...args], { cwd: folder });
    let said = "";
    child.stderr.on("data", d => { said += d; });
    const address = await new Promise((done, fail) => {
        child.stdout.on("data", d => { said += d; const m = /at (http:\S+)/.exec(said); if (m) done(m[1]); });
        child.on("exit", code => fail(new Error(`goop studio ended with ${code}: ${said}`)));
        setTimeout(() => fail(new Error(`goop studio says nothing: ${said}`)), 60000);
    });
    const url = new URL(address);
    const get = async path => {
        const response = await fetch(`${url.origin}${path}${url.search}`);
        expect(response.ok, `${path}: ${response.status} ${await response.clone().text()}`);
        return response.json();
    };
    return {
        address, url, folder, pid: child.pid, child,
        status: () => get("/status"), state: () => get("/state"), measures: () => get("/measures"),
        stop: () => { child.kill(); },
    };
}

/// A studio with the sheet that rates and memory are measured on. It sags by a few centimetres: a softer
/// one, which small displacements let sag by metres, would be pulled back by as much in the first step.
export function largeSheet(args = []) {
    const folder = mkdtempSync(join(tmpdir(), "goop-large-"));
    writeFileSync(join(folder, "large.toml"), `format = 1
title = "128 x 128 nodes, hybrid"
[step]
dt = 0.01
[[body]]
name = "sheet"
formulation = "hybrid"
position = [0, 1, 0]
shape.rectangle = { size = [1, 1], nodes = [128, 128] }
material = { young = 1e9, thickness = 0.004, damping = 0.1 }
[[body.pin]]
at = "corners"
`);
    return studio("large.toml", { folder, args });
}

let browser;
export async function open(at, { width = 1280, height = 720, dark = false } = {}) {
    const path = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
    browser ??= await chromium.launch({
        executablePath: path, headless: true,
        args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-quic",
            ...(process.env.PAGE ? ["--disable-features=LocalNetworkAccessChecks"] : [])],
    });
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
    const page = await context.newPage();
    page.faults = [];
    page.strangers = [];
    page.on("pageerror", error => page.faults.push(String(error)));
    page.on("console", message => { if (message.type() === "error") page.faults.push(message.text()); });
    page.on("request", request => {
        const host = new URL(request.url());
        if (host.protocol !== "data:" && host.origin !== at.url.origin) page.strangers.push(request.url());
    });
    // PAGE=studio/dist tries a page that is not in the binary yet.
    if (process.env.PAGE) await page.route(/\/(main\.js|style\.css|)(\?.*)?$/, route => route.fulfill({ path: join(root, process.env.PAGE, new URL(route.request().url()).pathname.slice(1) || "index.html") }));
    await page.goto(at.address);
    await page.waitForFunction(() => window.studio?.ready(), null, { timeout: 30000 }).catch(error => { throw new Error(`the page does not come up: ${page.faults.join() || error}`); });
    await page.waitForFunction(() => window.studio.drawn() > 0, null, { timeout: 30000 });
    return page;
}
export const close = async () => { await browser?.close(); };
export const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });
/// Texts whose contrast with what is behind them is below 4.5 (WCAG 2, level AA), disabled ones apart.
export const faint = page => page.evaluate(() => {
    const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return { rgb: m.slice(0, 3), a: m[3] ?? 1 }; };
    const light = rgb => { const [r, g, b] = rgb.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.a === 1) return c.rgb; } return [255, 255, 255]; };
    const found = [];
    for (const e of document.querySelectorAll("body *")) {
        const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || e.matches("select, input[type=text], input[type=number]");
        if (!own || e.disabled || e.closest("[hidden], option, svg, script") || !e.getClientRects().length) continue;
        const [a, b] = [light(parse(getComputedStyle(e).color).rgb), light(behind(e))].sort((p, q) => q - p);
        if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`${e.id || e.tagName} ${((a + 0.05) / (b + 0.05)).toFixed(1)}`);
    }
    return found;
});
/// Where a node is on the screen.
export const pixel = (page, body, node, pane = 0) => page.evaluate(([b, n, p]) => window.studio.pixel(b, n, p), [body, node, pane]);
export const run = (folder, ...args) => JSON.parse(execFileSync(goop, ["run", ...args, "--no-movie", "--json", "--quiet"], { cwd: folder, maxBuffer: 1 << 28 }).toString().trim().split("\n").at(-1));
