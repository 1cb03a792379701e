// Runs before `npm start`, `npm test` and similar commands: installs the locked packages if they are missing or older than the lock file. Plain
// JavaScript without imports from node_modules, because on a fresh clone it runs with the installed Node; the next command finds the current Node,
// from the `node` package, first on its PATH.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";

const OLDEST_NODE = 20;
const LOCAL_NODE = process.platform === "win32" ? "node_modules/.bin/node.cmd" : "node_modules/.bin/node";

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  stop(`Node ${OLDEST_NODE} or newer is needed, but this is ${process.version}. Install a newer Node.`);
}

// npm writes its own copy of the lock file last, so an interrupted install is repeated.
if (changedAtMs("node_modules/.package-lock.json") < changedAtMs("package-lock.json")) {
  console.log("Installing the locked packages (once, about a minute) ...");
  // --include=dev: NODE_ENV=production or omit=dev would leave out wrangler and the current Node. A user's own `ignore-scripts` is respected: the
  // message below says what is then missing.
  const npm = spawnSync("npm ci --include=dev --no-audit --no-fund --loglevel=error", {
    shell: true,
    stdio: "inherit",
  });
  if (npm.status !== 0) stop("The packages could not be installed; see npm's message above.");
}

if (!existsSync(LOCAL_NODE)) {
  stop(
    `${LOCAL_NODE} is missing: the install script of the package "node" did not run.\n` +
      "Your npm has ignore-scripts set. Run that one script, and the command again: npm rebuild node --ignore-scripts=false",
  );
}

/** In milliseconds; 0 if there is no such file. */
function changedAtMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
