// Khronos' validator on every GLB given: no errors, no warnings.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, ...files] = process.argv.slice(2);
const { validateBytes } = createRequire(`${modules}/`)("gltf-validator");
let failed = false;
for (const file of files) {
    const { issues } = await validateBytes(new Uint8Array(readFileSync(file)), { maxIssues: 20 });
    const passed = issues.numErrors === 0 && issues.numWarnings === 0;
    failed ||= !passed;
    const detail = `${issues.numErrors} errors, ${issues.numWarnings} warnings, ${issues.numInfos} notes`;
    console.log(`${passed ? "ok    " : "FAILED"}  glb khronos ${file.split("/").pop()}: ${detail}`);
    for (const issue of issues.messages) {
        if (issue.severity < 2 || !passed) console.error(`  ${issue.code} ${issue.pointer}: ${issue.message}`);
    }
}
process.exit(failed ? 1 : 0);
