// Bundles the page into dist/: one script, one style sheet, one document.
import { build } from "esbuild";
import { copyFileSync, mkdirSync } from "node:fs";

mkdirSync("dist", { recursive: true });
await build({
    entryPoints: ["src/main.ts"],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    outfile: "dist/main.js",
    legalComments: "eof",
});
for (const name of ["index.html", "style.css"]) copyFileSync(`src/${name}`, `dist/${name}`);
