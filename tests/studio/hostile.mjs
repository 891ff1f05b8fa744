// Clients that mean no good: refused, and a page that watches meanwhile notices nothing.
import net from "node:net";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import WebSocket from "ws";
import { check, expect, finish, goop, sleep, studio, until } from "./lib.mjs";

const at = await studio("four-corners");
const port = Number(at.url.port);
const socket = (options = {}) => new Promise((done, fail) => {
    const ws = new WebSocket(`ws://127.0.0.1:${port}/socket`, { origin: at.url.origin, ...options });
    ws.on("open", () => done(ws));
    ws.on("error", fail);
    ws.on("unexpected-response", (_, response) => { fail(new Error(`status ${response.statusCode}`)); });
});
const raw = text => new Promise(done => {
    const s = net.connect(port, "127.0.0.1", () => s.write(text));
    let got = "";
    s.on("data", d => { got += d; });
    s.on("close", () => done(got));
    s.on("error", () => done(got));
    setTimeout(() => s.destroy(), 3000);
});
const get = (path, headers = `Host: 127.0.0.1:${port}`) => raw(`GET ${path} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`);

// The one that watches.
const watcher = await socket();
let frames = 0, closed = false;
watcher.on("message", (data, binary) => { if (binary && data.readUInt32LE(0) === 1) frames++; });
watcher.on("close", () => { closed = true; });
watcher.send(JSON.stringify({ do: "play" }));
await until("frames", async () => frames > 20);
/// Frames still come and time still runs.
const undisturbed = async () => {
    const [before, status] = [frames, await at.status()];
    await until("more frames", async () => frames > before + 20, 10000);
    expect(!closed, "the watching page lost its connection");
    const now = await at.status();
    expect(now.playing ? now.sim_time > status.sim_time : now.sim_time >= status.sim_time, "time runs");
};

await check("another host, another origin", async () => {
    expect(/^HTTP\/1.1 403/.test(await get("/status", "Host: evil.example")), "a foreign host");
    expect(/^HTTP\/1.1 403/.test(await get("/", `Host: 127.0.0.1:${port}\r\nOrigin: http://evil.example`)), "a foreign origin");
    for (const origin of ["http://evil.example", "null", `http://127.0.0.1:${port + 1}`, `https://127.0.0.1:${port}`]) {
        let refused = false;
        await socket({ origin }).then(ws => ws.close(), error => { refused = /403/.test(String(error)); });
        expect(refused, `the origin ${origin} got in`);
    }
    await undisturbed();
});
await check("paths that lead elsewhere", async () => {
    for (const path of ["/../Cargo.toml", "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/index.html/../../x", "/..%5c..%5cetc"]) {
        const answer = await get(path);
        expect(/^HTTP\/1.1 (404|400)/.test(answer) && !/root:/.test(answer), `${path}: ${answer.slice(0, 60)}`);
    }
    const ws = await socket();
    const answers = [];
    ws.on("message", (data, binary) => { if (!binary) answers.push(JSON.parse(data)); });
    for (const name of ["../../etc/passwd", "/etc/passwd", "..\\x.toml", "", "a/b"]) ws.send(JSON.stringify({ do: "scene", name }));
    for (const file of ["../escape", "/tmp/escape", "a/b", "..", "x\0y"]) ws.send(JSON.stringify({ do: "save", file, overwrite: true }));
    ws.send(JSON.stringify({ do: "export", format: "../x" }));
    await until("eleven refusals", async () => answers.filter(a => a.error).length >= 11);
    ws.close();
});
await check("random bytes, as HTTP and as messages", async () => {
    await Promise.all(Array.from({ length: 20 }, () => raw(randomBytes(2000))));
    const ws = await socket();
    let gone = false;
    ws.on("close", () => { gone = true; });
    ws.on("error", () => { gone = true; });
    for (let k = 0; k < 60 && !gone; k++) { ws.send(randomBytes(500), { binary: k % 2 === 0 }); await sleep(5); }
    await until("it is shown the door", async () => gone);
    await undisturbed();
});
await check("commands with nonsense in them", async () => {
    watcher.send(JSON.stringify({ do: "play" }));
    const ws = await socket();
    const errors = [];
    ws.on("message", (data, binary) => { if (!binary && JSON.parse(data).error) errors.push(JSON.parse(data).error); });
    const wrong = [
        { do: "grab", body: 99, node: 0, to: [0, 0, 0], gesture: 1, strength: 1 }, { do: "grab", body: 0, node: 1e9, to: [0, 0, 0], gesture: 1, strength: 1 },
        { do: "grab", body: 0, node: 0, to: [1e300, 0, 0], gesture: 1, strength: 1 }, { do: "grab", body: 0, node: 0, to: [0, 0, 0], gesture: 1, strength: -5 },
        { do: "material", body: 0, key: "young", value: -1 }, { do: "material", body: 0, key: "__proto__", value: 1 }, { do: "speed", value: 0 },
        { do: "pin", body: 0, nodes: [] }, { do: "thrust", body: 0, nodes: [], newtons: [1e300, 0, 0] }, { do: "scrub", frame: 1e9 },
        { do: "add-obstacle", kind: "dragon", position: [0, 0, 0], size: 1 }, { do: "add-obstacle", kind: "sphere", position: [0, 0, 0], size: 1e99 },
        { do: "formulation", body: 0, to: "x", integrator: null }, { do: "step-length", dt: 0 }, { do: "draw", points: [[0, 0, 0]] },
        { do: "remove-obstacle", name: "nothing" }, { do: "world", gravity: [1e99, 0, 0], wind: null }, { do: "compare", formulation: "x" },
    ];
    for (const command of wrong) { ws.send(JSON.stringify(command)); await sleep(10); }
    await until(`${wrong.length} sentences`, async () => errors.length >= wrong.length).catch(e => { throw new Error(`${e.message}: ${errors.length}: ${errors.join(" | ")}`); });
    ws.close();
    await undisturbed();
});
await check("huge messages and endless headers", async () => {
    const ws = await socket();
    let gone = false;
    ws.on("close", () => { gone = true; });
    ws.on("error", () => { gone = true; });
    ws.send("x".repeat(8 << 20));
    await until("refused", async () => gone);
    const answer = await raw(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX: ${"y".repeat(1 << 20)}\r\n\r\n`);
    expect(!/^HTTP\/1.1 200/.test(answer), answer.slice(0, 40));
    await undisturbed();
});
await check("five hundred connections", async () => {
    const idle = Array.from({ length: 500 }, () => net.connect(port, "127.0.0.1").on("error", () => {}));
    await sleep(500);
    const status = await at.status();
    expect(status.scene === "four-corners", "a newcomer still gets an answer");
    await undisturbed();
    const pages = await Promise.allSettled(Array.from({ length: 60 }, () => socket()));
    const in_ = pages.filter(p => p.status === "fulfilled");
    expect(in_.length < 60 && in_.length > 0, `${in_.length} of 60 pages got in`);
    await undisturbed();
    in_.forEach(p => p.value.terminate());
    idle.forEach(s => s.destroy());
    await until("room again", async () => { const ws = await socket().catch(() => null); ws?.close(); return ws; });
    const threads = readFileSync(`/proc/${at.pid}/status`, "utf8").match(/FDSize:\s+(\d+)/)?.[1];
    return `${in_.length} pages of 60 let in, ${threads} descriptors`;
});
await check("a page that reads nothing costs the others nothing", async () => {
    const slow = await socket();
    slow._socket.pause();
    await sleep(2000);
    await undisturbed();
    slow.terminate();
});
await check("other machines need a token", async () => {
    const refused = spawnSync(goop, ["studio", "--listen", "0.0.0.0", "--no-open", "--port", "0"], { timeout: 20000 });
    expect(refused.status === 2 && /token/.test(String(refused.stderr)), String(refused.stderr));
    const guarded = await studio("four-corners", { args: ["--listen", "0.0.0.0", "--token", "word-of-eight"] });
    const origin = `http://127.0.0.1:${guarded.url.port}`;
    for (const path of ["/", "/status", "/main.js", "/socket", "/status?token=wrong-word-x"]) expect((await fetch(origin + path)).status === 403, path);
    expect((await fetch(`${origin}/status?token=word-of-eight`)).status === 200, "with the token");
    const html = await (await fetch(`${origin}/?token=word-of-eight`)).text();
    expect(/main.js\?token=word-of-eight/.test(html), "the page hands it on");
    guarded.stop();
});

watcher.close();
at.stop();
process.exit(finish() ? 0 : 1);
