// Before a build: a file of an earlier one, whose source is gone, would be published. What is below dist/cjs is for programs that call require(), and
// says so itself, because the package's own files are modules.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";

const DIST = new URL("../dist/", import.meta.url);
rmSync(DIST, { recursive: true, force: true });
mkdirSync(new URL("cjs/", DIST), { recursive: true });
writeFileSync(new URL("cjs/package.json", DIST), '{ "type": "commonjs" }\n');
