// What is deployed to an account, by whichever program deploys it: `npm run deploy` of this release and real wrangler, unless it is told otherwise.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { deploymentOf } from "../../scripts/deploy/deployment.ts";
import { WRANGLER } from "../../scripts/wrangler.ts";
import { type Account, startAccount } from "./account.ts";
import { CHAIN_SOURCES } from "./internet.ts";
import { type Store, startStore } from "./store.ts";

export const ROOT = resolve(import.meta.dirname, "../..");
/** Without the banner wrangler asks no registry for a newer version. */
const QUIET = { NO_COLOR: "1", WRANGLER_LOG: "log", WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" };
/** Characters of a deploy's output that an error shows. */
const SHOWN = 6_000;

/** Deploys to the account; what was printed. */
export type Deploying = (account: Account) => Promise<string>;

export interface DeployOptions {
  /** Of the deployment; a test of any other name than `edgetill` is what this is for. */
  readonly name: string;
  /** Instead of those of wrangler.toml. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Instead of `npm run deploy` of this release. */
  readonly first?: Deploying;
}

/** A deployment in an account, which nothing runs. */
export interface TwinAccount {
  readonly account: Account;
  /** Of the database, by its id. */
  readonly store: Store;
  /** Below it are the files of the twin; gone when it has stopped. */
  readonly folder: string;
  /** What the deploy printed. */
  readonly output: string;
  /** Deploys again. */
  upgrade(): Promise<void>;
  /** Commands of wrangler against the account, as an operator types them; the exit status and all that was printed. */
  wrangler(args: readonly string[]): Promise<{ readonly status: number | null; readonly output: string }>;
  stop(): Promise<void>;
}

/** Deploys for the first time, to an account of its own or to that of another deployment, which must stop later. */
export async function openAccount(
  options: DeployOptions,
  beside?: Pick<TwinAccount, "account" | "store">,
): Promise<TwinAccount> {
  const folder = mkdtempSync(join(tmpdir(), "edgetill-twin-"));
  const remove = () => {
    rmSync(folder, { recursive: true, force: true });
    forget(options.name);
  };
  // The runtime's own hook ends the process at a signal, and nothing that waits is finished then.
  process.once("exit", remove);
  const ended: (() => unknown)[] = [() => process.removeListener("exit", remove), remove];
  const stop = async () => {
    for (const end of ended.splice(0).reverse()) await end();
  };
  try {
    const store = beside?.store ?? startStore(join(folder, "databases"));
    if (beside === undefined) ended.push(() => store.stop());
    const account = beside?.account ?? (await startAccount(store.query));
    if (beside === undefined) ended.push(() => account.stop());
    const { first = (to) => deploy(to, options) } = options;
    const output = await first(account);
    return {
      account,
      store,
      folder,
      output,
      stop,
      upgrade: async () => void (await deploy(account, options)),
      wrangler: (args) => run(account, [WRANGLER, ...args]),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Of a deployment without a domain, in the account's one subdomain. */
export const originOf = (name: string) => `https://${name}.example.workers.dev`;

/** The token of the set-up link that a deploy printed. */
export function linkIn(output: string): string {
  const [, token] = /https:\S+\/setup#(\S+)/.exec(output) ?? [];
  if (token === undefined) throw new Error(`the deploy made no set-up link:\n${output.slice(-SHOWN)}`);
  return token;
}

/** `npm run deploy`, for the first time with all answers; what it printed. */
async function deploy(account: Account, { name, variables = {} }: DeployOptions): Promise<string> {
  const { folder, secretsFile, rememberedFile } = deploymentOf(name);
  if (!existsSync(join(ROOT, secretsFile))) {
    mkdirSync(join(ROOT, folder), { recursive: true, mode: 0o700 });
    writeFileSync(join(ROOT, secretsFile), `CHAIN_SOURCES='${CHAIN_SOURCES}'\n`, { mode: 0o600 });
  }
  const given = Object.entries(variables).flatMap(([variable, value]) => ["--var", `${variable}=${value}`]);
  const isFirst = !existsSync(join(ROOT, rememberedFile));
  const answers = isFirst ? ["--location", "weur", "--workers-dev", "--mail", "none", ...given] : [];
  return good(account, ["scripts/deploy.ts", "--name", name, ...answers, "--yes"]);
}

/** As `run`; throws with the end of what was printed if it failed, or if the account did not know what it was asked. */
export async function good(account: Account, args: readonly string[], folder = ROOT): Promise<string> {
  const { status, output } = await run(account, args, folder);
  if (status !== 0) throw new Error(`${args[0]} failed:\n${output.slice(-SHOWN)}`);
  if (account.unknown.length > 0) throw new Error(`wrangler asked what the account does not know: ${account.unknown}`);
  return output;
}

/** A program in Node, in the folder, with the account as Cloudflare. */
export async function run(account: Account, args: readonly string[], folder = ROOT) {
  const { VITEST: _, VITEST_POOL_ID: __, VITEST_WORKER_ID: ___, ...environment } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: {
      ...environment,
      ...QUIET,
      CLOUDFLARE_API_BASE_URL: account.url,
      CLOUDFLARE_API_TOKEN: "of-the-twin",
      // wrangler remembers the account that was chosen last, wherever that was.
      CLOUDFLARE_ACCOUNT_ID: account.id,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const status = await new Promise<number | null>((end) => child.on("close", end));
  return { status, output };
}

/** What a deploy left in the root. */
function forget(name: string): void {
  const { folder, configuration } = deploymentOf(name);
  for (const path of [folder, configuration]) rmSync(join(ROOT, path), { recursive: true, force: true });
}
