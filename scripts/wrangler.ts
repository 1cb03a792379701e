// Runs wrangler, quietly, offline, and with all it writes below the home of the server.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "./home.ts";
import { type Settings, StartError } from "./settings.ts";

const WRANGLER = "node_modules/wrangler/bin/wrangler.js";
/** The parent watch, in wrangler's own process: it ends with us even when we are killed outright. */
const PARENT_WATCH = ["--import", new URL("./end-with-parent.ts", import.meta.url).href];
/**
 * wrangler.toml's, which the command line replaces, and one more: the development server runs the messages of a queue one after the other, and
 * without it an endpoint that hangs would hold the deliveries of all others.
 */
export const COMPATIBILITY_FLAGS = [
  "nodejs_compat",
  "global_fetch_strictly_public",
  "queue_consumer_no_wait_for_wait_until",
] as const;
/** What a developer's shell may hold and must not reach the server: another target, or secrets of a deployment. */
const NOT_INHERITED = [
  "CLOUDFLARE_ENV",
  "CLOUDFLARE_API_TOKEN",
  "CLOUDFLARE_INCLUDE_PROCESS_ENV",
  "WRANGLER_LOG",
  "ROW_MAC_KEY",
  "CODE_PEPPER",
  "SECRETS_AES_KEY",
  "SIGNING_KEY",
];

/** Where wrangler keeps the state, and all else that it writes. */
type Place = Pick<Home, "path" | "state">;

export async function migrate(home: Place): Promise<void> {
  await runWrangler(home, ["d1", "migrations", "apply", "DB", "--local", "--persist-to", home.state], "The migrations");
}

/** Runs a file of SQL on the local D1, as one transaction. */
export async function executeSqlFile(home: Home, file: string): Promise<void> {
  await runWrangler(home, ["d1", "execute", "DB", "--local", "--persist-to", home.state, "--file", file], "The seed");
}

/**
 * Starts the Worker on 127.0.0.1. Variables go by the environment of the process and secrets by a file: a command line can be read by
 * every user of the machine. The --env-file also keeps a .dev.vars or .env in the working folder out.
 */
export function spawnServer(home: Home, settings: Settings, logFile: string | undefined): ChildProcess {
  const output = logFile === undefined ? "inherit" : openSync(logFile, "a", 0o600);
  const server = spawn(
    process.execPath,
    [
      ...PARENT_WATCH,
      WRANGLER,
      "dev",
      ...["--ip", "127.0.0.1", "--port", String(settings.port), "--inspector-port", "0"],
      ...["--persist-to", home.state, "--env-file", home.secretsFile],
      ...["--compatibility-flags", ...COMPATIBILITY_FLAGS],
      ...["--show-interactive-dev-session=false", "--log-level", logFile === undefined ? "error" : "log"],
    ],
    { env: { ...environment(home), ...settings.variables }, stdio: ["ignore", output, output] },
  );
  if (output !== "inherit") closeSync(output);
  return server;
}

/** Waits for a wrangler command; its output is shown only when it fails. */
async function runWrangler(home: Place, args: readonly string[], what: string): Promise<void> {
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

function environment(home: Place): NodeJS.ProcessEnv {
  const inherited = { ...process.env };
  for (const name of NOT_INHERITED) delete inherited[name];
  return {
    ...inherited,
    CI: "true",
    // For prepare-dev.ts: there is nothing left to prepare.
    EDGETILL_STARTED: "yes",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    // With the banner goes the look for a newer version.
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_WRITE_LOGS: "false",
    XDG_CONFIG_HOME: join(home.path, "config"),
    WRANGLER_REGISTRY_PATH: join(home.path, "registry"),
    WRANGLER_CACHE_DIR: join(home.path, "cache"),
    // No pages of wrangler's own beside ours, and no store of every log line.
    X_LOCAL_EXPLORER: "false",
    X_LOCAL_OBSERVABILITY: "false",
  };
}
