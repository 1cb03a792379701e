// Empties dist before a build: otherwise a leftover file whose source is gone would be published. Files in dist/cjs are for programs that call
// require(), which needs a package.json there, because the package's own files are modules.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";

const DIST = new URL("../dist/", import.meta.url);
rmSync(DIST, { recursive: true, force: true });
mkdirSync(new URL("cjs/", DIST), { recursive: true });
writeFileSync(new URL("cjs/package.json", DIST), '{ "type": "commonjs" }\n');
