// Khronos' validator on every GLB given: no errors, no warnings.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [modules, ...files] = process.argv.slice(2);
const { validateBytes } = createRequire(`${resolve(modules)}/`)("gltf-validator");
let failed = false;
for (const file of files) {
    const name = `glb khronos ${file.split("/").pop()}`;
    try {
        const { issues } = await validateBytes(new Uint8Array(readFileSync(file)), { maxIssues: 20 });
        const passed = issues.numErrors === 0 && issues.numWarnings === 0;
        failed ||= !passed;
        const detail = `${issues.numErrors} errors, ${issues.numWarnings} warnings, ${issues.numInfos} notes`;
        console.log(`${passed ? "ok    " : "FAILED"}  ${name}: ${detail}`);
        for (const issue of issues.messages) {
            if (!passed) console.error(`  ${issue.code} ${issue.pointer}: ${issue.message}`);
        }
    } catch (fault) {
        failed = true;
        console.log(`FAILED  ${name}: ${fault}`);
    }
}
process.exit(failed ? 1 : 0);
