// Interpreters for the documented receivers and shops not written for Node: this machine's, or Debian's, installed by `npm run
// nodes:install`.
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

const NODES = resolve(import.meta.dirname, "../../.nodes");

/** A Python with the modules that the examples import; undefined if there is none. */
export const PYTHON = ["python3", `${NODES}/python3/python3.sh`].find(
  (each) => spawnSync(each, ["-c", "import http.server, sqlite3"]).status === 0,
);

/** A PHP with PDO for SQLite and curl; undefined if there is none. */
export const PHP = ["php", `${NODES}/php/php.sh`].find(
  (each) =>
    spawnSync(each, ["-r", 'exit(extension_loaded("pdo_sqlite") && extension_loaded("curl") ? 0 : 1);']).status === 0,
);
