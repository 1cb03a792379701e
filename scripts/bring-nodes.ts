// Runs before `npm run test:all`: tries to install the nodes, the browser and the Python that tests need (install-nodes.sh). If that fails, the tests
// run anyway: those that need what is missing are skipped, and the end of the run says why (test/support/closing-line.ts).
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = ".nodes";
/** Why the last installation failed; absent after a successful one. */
export const REASON_FILE = join(FOLDER, "not-installed.txt");

async function bringNodes(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  rmSync(REASON_FILE, { force: true });
  const reason = await install();
  if (reason !== undefined) writeFileSync(REASON_FILE, reason);
}

/** Undefined if everything is installed. The script's output is shown as it runs. */
function install(): Promise<string | undefined> {
  const script = spawn("sh", ["scripts/install-nodes.sh"], { stdio: ["ignore", "inherit", "pipe"] });
  let said = "";
  script.stderr.on("data", (chunk) => {
    said += chunk;
    process.stderr.write(chunk);
  });
  return new Promise((resolve) => {
    script.once("error", () => resolve("there is no sh here"));
    script.once("close", (status) => resolve(status === 0 ? undefined : reasonIn(said)));
  });
}

/** The reason that the script printed, without its reference to apt's message above. */
function reasonIn(said: string): string {
  const [, reason] = /^nodes: (.*?)(; apt's message is above)?\.?$/m.exec(said) ?? [];
  return reason ?? "scripts/install-nodes.sh failed";
}

if (import.meta.main) await bringNodes();
