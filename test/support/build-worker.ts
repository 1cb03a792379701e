// Builds the Worker and its bindings with wrangler once before the tests, for all servers (serve-built.ts), because `wrangler dev` would bundle for
// each server. The build is cached under a hash of its sources, as migrated databases are.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import { WRANGLER } from "../../scripts/wrangler.ts";
import { BINDINGS_FILE, FOLDER } from "./built-worker.ts";

const CACHE = resolve("node_modules/.cache/edgetill");
/** Prefix of the folders' names. */
const BUILT = "worker-";
const CONFIGURATION = "wrangler.toml";
const MADE_OF = [CONFIGURATION, "package-lock.json", "test/support/build-worker.ts", "src/**/*.*"];
/** The age at which builds of other sources are deleted; by then no run uses them. */
const FORGOTTEN_AFTER_MS = 24 * 3_600_000;

export default function buildWorker(): void {
  const folder = join(CACHE, BUILT + versionOfSources());
  if (existsSync(folder)) utimesSync(folder, new Date(), new Date());
  else buildIn(folder);
  process.env[FOLDER] = folder;
}

function versionOfSources(): string {
  // Copies of the repository share the cache, but the bindings contain folder paths.
  const made = createHash("sha256").update(resolve("."));
  for (const file of globSync(MADE_OF).toSorted()) made.update(file).update(readFileSync(file));
  return made.digest("hex").slice(0, 32);
}

function buildIn(folder: string): void {
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    const deploy = [WRANGLER, "deploy", "--dry-run", "--outdir", draft, "--config", CONFIGURATION];
    execFileSync(process.execPath, deploy, { env: { ...process.env, CI: "true" }, stdio: "pipe" });
    const config = unstable_readConfig({ config: CONFIGURATION });
    const { workerOptions } = unstable_getMiniflareWorkerOptions(config);
    // The values of a developer's .dev.vars are left out, because each server has its own.
    writeFileSync(join(draft, BINDINGS_FILE), JSON.stringify({ ...workerOptions, bindings: config.vars }));
    renameSync(draft, folder);
    forgetOthers();
  } catch (error) {
    // Another run finished first.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function forgetOthers(): void {
  for (const name of readdirSync(CACHE).filter((each) => each.startsWith(BUILT))) {
    const path = join(CACHE, name);
    if (statSync(path).mtimeMs < Date.now() - FORGOTTEN_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
}
