// Runs wrangler without output, offline, and with all its files below the server's home.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { KEYRING_LABELS } from "../src/platform/keys/keyrings.ts";
import { DEFAULT_NAME } from "./deploy/answers.ts";
import { type Home, writePrivateFile } from "./home.ts";
import { type Settings, StartError } from "./settings.ts";

export const WRANGLER = "node_modules/wrangler/bin/wrangler.js";
/** Loads end-with-parent.ts into wrangler's process, so that it ends with this process, even if this process is killed. */
const PARENT_WATCH = ["--import", new URL("./end-with-parent.ts", import.meta.url).href];
/**
 * The flags of wrangler.toml, which flags on the command line replace, and one more. The development server handles queue messages one after the
 * other: without the additional flag, a hanging endpoint would block all other deliveries.
 */
export const COMPATIBILITY_FLAGS = [
  "nodejs_compat",
  "global_fetch_strictly_public",
  "queue_consumer_no_wait_for_wait_until",
] as const;
/** Variables from a developer's shell that must not reach the server, because they choose another target or are secrets of a deployment. */
const NOT_INHERITED = [
  "CLOUDFLARE_ENV",
  "CLOUDFLARE_API_TOKEN",
  "CLOUDFLARE_INCLUDE_PROCESS_ENV",
  "WRANGLER_LOG",
  "MASTER_KEY",
  ...Object.keys(KEYRING_LABELS),
];

/**
 * A copy of wrangler.toml with two changes. `EDGETILL_NAME` may replace the name, as in a deploy. The list of required secrets also names the
 * optional ones, because wrangler passes only the listed ones. The copy is in the root, because its paths are relative.
 */
const configurationOf = (name: string) => `wrangler.development${name === DEFAULT_NAME ? "" : `.${name}`}.toml`;
const NAMED = /^((?:name|database_name|queue) = )"edgetill/gm;
const REQUIRED = 'required = ["MASTER_KEY"]';
const OPTIONAL_SECRETS = [
  ...Object.keys(KEYRING_LABELS),
  "CHAIN_SOURCES",
  "SIGN_IN_PROVIDERS",
  "MAIL_PROVIDER",
  "TURNSTILE_SECRET_KEY",
];

/** Returns the file's name. */
function writeDevelopmentConfiguration(name: string): string {
  const file = configurationOf(name);
  const text = readFileSync("wrangler.toml", "utf8").replaceAll(NAMED, `$1"${name}`);
  if (!text.includes(REQUIRED)) throw new StartError(`wrangler.toml has no line ${REQUIRED}`);
  const written = text.replace(REQUIRED, `required = ${JSON.stringify(["MASTER_KEY", ...OPTIONAL_SECRETS])}`);
  if (!existsSync(file) || readFileSync(file, "utf8") !== written) writePrivateFile(file, written);
  return file;
}

/** The folders in which wrangler keeps state and its other files. */
type HomeFiles = Pick<Home, "path" | "state">;

/** Where a state folder keeps its databases. */
const DATABASES = "v3/d1/miniflare-D1DatabaseObject";
const DATABASE_FILE = /^[0-9a-f]{64}\.sqlite$/;

/** Migrates a new state by copying the last state that the same migrations produced. That is fast, and a test run starts about twenty servers. */
export async function migrate(home: HomeFiles): Promise<void> {
  const isNew = !existsSync(join(home.state, "v3"));
  const copy = migratedCopy();
  if (isNew && existsSync(copy)) {
    cpSync(copy, home.state, { recursive: true });
    return;
  }
  if (!isNew) refuseOtherRelease(home);
  await runWrangler(home, ["d1", "migrations", "apply", "DB", "--local", "--persist-to", home.state], "The migrations");
  if (isNew) keepCopy(home.state, copy);
}

/** Throws if the database has migrations that this release does not have: its own migrations would fail on those tables, or mix two releases. */
function refuseOtherRelease(home: HomeFiles): void {
  const known = readdirSync("migrations");
  const foreign = appliedMigrations(home).filter((name) => !known.includes(name));
  if (foreign.length === 0) return;
  throw new StartError(
    `The database in ${home.state} was made by another release of Edgetill: this one has no migration ${foreign[0]}. Nothing in it was changed. ` +
      `To start with a new one, move that folder away or delete it (rm -r ${home.state}); to keep it, run the release that made it.`,
  );
}

/** Names of the migrations applied to the database, oldest first; empty if there is no database yet. */
function appliedMigrations(home: HomeFiles): readonly string[] {
  const folder = join(home.state, DATABASES);
  const file = existsSync(folder) ? readdirSync(folder).find((name) => DATABASE_FILE.test(name)) : undefined;
  if (file === undefined) return [];
  const database = new DatabaseSync(join(folder, file), { readOnly: true, timeout: 5_000 });
  try {
    const table = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'd1_migrations'").get();
    if (table === undefined) return [];
    return database
      .prepare("SELECT name FROM d1_migrations ORDER BY id")
      .all()
      .map(({ name }) => String(name));
  } finally {
    database.close();
  }
}

/** The path of the copy depends on everything that determines its content: the migrations, the database's name, and the versions of the programs. */
function migratedCopy(): string {
  const made = createHash("sha256");
  const files = readdirSync("migrations").filter((name) => name.endsWith(".sql"));
  for (const file of files.toSorted()) made.update(file).update(readFileSync(join("migrations", file)));
  for (const file of ["wrangler.toml", "package-lock.json"]) made.update(readFileSync(file));
  return join("node_modules/.cache/edgetill", `migrated-${made.digest("hex").slice(0, 32)}`);
}

/**
 * Stores the copy atomically, so that nobody copies half of it. If the copy cannot be stored, or another process has stored the same copy first, ours
 * is discarded.
 */
function keepCopy(state: string, copy: string): void {
  const draft = `${copy}.${process.pid}`;
  try {
    mkdirSync(draft, { recursive: true });
    cpSync(state, draft, { recursive: true });
    renameSync(draft, copy);
  } catch {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The file of the local D1. No other process may have it open for longer than a statement. */
export function databaseFile({ state }: Pick<Home, "state">): string {
  const folder = join(state, DATABASES);
  const [file] = readdirSync(folder).filter((name) => DATABASE_FILE.test(name));
  if (file === undefined) throw new StartError(`There is no database in ${folder}.`);
  return join(folder, file);
}

/** Runs a file of SQL on the local D1, as one transaction. */
export function executeSqlFile(home: Pick<Home, "state">, file: string): void {
  const database = new DatabaseSync(databaseFile(home), { timeout: 5_000 });
  try {
    database.exec(`BEGIN; ${readFileSync(file, "utf8")}; COMMIT`);
  } catch (error) {
    throw new StartError(`The seed failed:\n${error instanceof Error ? error.message : error}`);
  } finally {
    database.close();
  }
}

interface Serving {
  readonly logFile: string | undefined;
  readonly main: string | undefined;
  /** A program to run instead of wrangler. */
  readonly wrangler: string | undefined;
}

/**
 * Starts the Worker on 127.0.0.1. Variables are passed in the environment and secrets in a file: any user of the machine can read a
 * command line. The --env-file also overrides a .dev.vars or .env in the working folder.
 */
export function spawnServer(
  home: Home,
  settings: Settings,
  { logFile, main, wrangler = WRANGLER }: Serving,
): ChildProcess {
  const configuration = writeDevelopmentConfiguration(settings.name);
  const output = logFile === undefined ? "inherit" : openSync(logFile, "a", 0o600);
  const server = spawn(
    process.execPath,
    [
      ...PARENT_WATCH,
      wrangler,
      "dev",
      ...(main === undefined ? [] : [main]),
      "--config",
      configuration,
      "--ip",
      "127.0.0.1",
      "--port",
      String(settings.port),
      "--inspector-port",
      "0",
      "--persist-to",
      home.state,
      "--env-file",
      home.secretsFile,
      "--compatibility-flags",
      ...COMPATIBILITY_FLAGS,
      "--show-interactive-dev-session=false",
      "--log-level",
      logFile === undefined ? "error" : "log",
    ],
    { env: { ...environment(home), ...settings.variables }, stdio: ["ignore", output, output] },
  );
  if (output !== "inherit") closeSync(output);
  return server;
}

/** Waits for a wrangler command; its output is shown only when it fails. */
async function runWrangler(home: HomeFiles, args: readonly string[], what: string): Promise<void> {
  const wrangler = spawn(process.execPath, [...PARENT_WATCH, WRANGLER, ...args], {
    env: environment(home),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [wrangler.stdout, wrangler.stderr]) stream.on("data", (chunk) => (output += chunk));
  const status = await new Promise<number | null>((resolve, reject) => {
    wrangler.on("error", reject);
    wrangler.on("close", resolve);
  });
  if (status !== 0) throw new StartError(`${what} failed:\n${output}`);
}

function environment(home: HomeFiles): NodeJS.ProcessEnv {
  const inherited = { ...process.env };
  for (const name of NOT_INHERITED) delete inherited[name];
  return {
    // The runtime triggers garbage collection by the size of V8's heaps, which are small here, and not by the memory that their objects hold
    // elsewhere. Without these flags its memory grew by about 100 KB per request (docs/design/performance.md, "Memory over an hour"). A user's own
    // value takes precedence.
    MINIFLARE_WORKERD_V8_FLAGS: "--gc-global --max-semi-space-size=4",
    ...inherited,
    CI: "true",
    // Tells prepare-dev.ts that everything is prepared.
    EDGETILL_STARTED: "yes",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    // Hiding the banner also turns off wrangler's check for a newer version.
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_WRITE_LOGS: "false",
    XDG_CONFIG_HOME: join(home.path, "config"),
    WRANGLER_REGISTRY_PATH: join(home.path, "registry"),
    WRANGLER_CACHE_DIR: join(home.path, "cache"),
    // Disables wrangler's own pages and its log store.
    X_LOCAL_EXPLORER: "false",
    X_LOCAL_OBSERVABILITY: "false",
  };
}
