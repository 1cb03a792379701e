// Installs what a shop needs in addition to this repository's packages, with the commands of its chapter, again only if its files have changed. What
// the chapter stores in `.edgetill` is stored in a test folder here.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { FOLDER, installOf, type ShopOfGuide } from "./shops.ts";

/** Next to the installations of other tests, but not below node_modules, where Next.js compiles nothing. */
const HOME = resolve(".nodes/shops");
/** npm's message when it cannot reach a registry. */
const UNREACHED =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ENOTCACHED|ERR_SOCKET_TIMEOUT)\b/;

/** A limit for installing, building and starting on a busy machine; it does not measure speed. */
export const READY_WITHIN_MS = 600_000;

/** Runs commands of the guide in the folder of the tests. */
export function inTestFolder(commands: string): string {
  return commands.replaceAll(".edgetill", HOME);
}

/** The environment of a terminal: without the variables of the test runner and `npm run`, but with npm's registry. */
export function terminalEnvironment(): NodeJS.ProcessEnv {
  const ofRunners =
    /^(npm_(?!config_).*|npm_config_((local_|global_)?prefix|workspaces?|ignore_scripts|omit|include)|NODE_ENV|VITEST.*|WRANGLER_LOG|FORCE_COLOR)$/i;
  const own = Object.entries(process.env).filter(([name]) => !ofRunners.test(name));
  // The cast is necessary because Next.js's types require NODE_ENV.
  return Object.fromEntries([...own, ["NO_COLOR", "1"]]) as NodeJS.ProcessEnv;
}

/** Installs the shop. Returns the reason if no registry is reachable, so that its tests are skipped; in CI, and for any other reason, it throws. */
export async function installShop(shop: ShopOfGuide): Promise<string | undefined> {
  const commands = installOf(shop);
  if (commands === "") return undefined;
  mkdirSync(HOME, { recursive: true });
  const stampFile = join(HOME, `${shop.folder}.installed`);
  const stamp = stampOf(shop, commands);
  if (readOrEmpty(stampFile) === stamp) return undefined;
  const { status, printed } = await run(inTestFolder(commands));
  if (status === 0) {
    writeFileSync(stampFile, stamp);
    return undefined;
  }
  const [unreached] = UNREACHED.exec(printed) ?? [];
  if (unreached === undefined || process.env.CI) throw new Error(`${shop.name} was not installed:\n${printed}`);
  return `npm reached no registry (${unreached})`;
}

/** A hash that changes when the shop, its client or the commands change. */
function stampOf({ folder }: ShopOfGuide, commands: string): string {
  const hash = createHash("sha256").update(commands);
  const files = [`${FOLDER}/${folder}/**/*.{js,json}`, "client/*.{ts,json}"].flatMap((pattern) => globSync(pattern));
  for (const path of files.sort()) hash.update(path).update(readFileSync(path));
  return hash.digest("hex");
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

function run(commands: string): Promise<{ status: number | null; printed: string }> {
  const child = spawn("sh", ["-c", `set -e\n${commands}`], {
    env: terminalEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (printed += text));
  return new Promise((done, failed) => {
    child.once("error", failed);
    child.once("close", (status) => done({ status, printed }));
  });
}
