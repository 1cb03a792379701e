// Runs one simulator in its own process with unchanged sources, so that V8's counts use the sources' offsets (reach.ts).
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CPU_MARK } from "./bundle.ts";
import { loadBy } from "./hooks.ts";

const [root = "", cache = "", entry = ""] = process.argv.slice(2);
loadBy({ root, cache, entry });
const { runTests } = await import("./harness.ts");
await import(pathToFileURL(join(root, entry)).href);
await runTests({ goesOn: true });
const { user, system } = process.cpuUsage();
process.stderr.write(`${CPU_MARK}${(user + system) / 1e6}\n`);
