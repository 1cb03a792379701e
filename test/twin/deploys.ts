// Deployments to an account, by any program; by default by this release's `npm run deploy` with real wrangler.
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
/** Hides wrangler's banner, because wrangler would ask a registry for a newer version to show it. */
const QUIET = { NO_COLOR: "1", WRANGLER_LOG: "log", WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" };
/** Characters of a deploy's output shown in an error. */
const SHOWN = 6_000;

/** Deploys to the account; returns the output. */
export type Deploying = (account: Account) => Promise<string>;

export interface DeployOptions {
  /** The deployment's name; tests use a name other than `edgetill` to check that nothing depends on it. */
  readonly name: string;
  /** Replaces the variables in wrangler.toml. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Used for the first deploy instead of this release's `npm run deploy`. */
  readonly first?: Deploying;
  /** The folder that is deployed, and whose `npm run deploy` is used; by default the working tree. */
  readonly sources?: string;
  /** Secrets in addition to those that a deploy creates or asks for. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** A deployment in an account. It is not running. */
export interface TwinAccount {
  readonly account: Account;
  /** The database's store, by id. */
  readonly store: Store;
  /** The folder of the twin's files; removed by `stop`. */
  readonly folder: string;
  readonly output: string;
  /** Deploys to the same account again. */
  upgrade(): Promise<void>;
  /** Runs a wrangler command against the account, as an operator types it; returns the exit status and all output. */
  wrangler(args: readonly string[]): Promise<{ readonly status: number | null; readonly output: string }>;
  stop(): Promise<void>;
}

/** Deploys for the first time, to a new account or to the account of `beside`, which must then be stopped after this deployment. */
export async function openAccount(
  options: DeployOptions,
  beside?: Pick<TwinAccount, "account" | "store">,
): Promise<TwinAccount> {
  const folder = mkdtempSync(join(tmpdir(), "edgetill-twin-"));
  const remove = () => {
    rmSync(folder, { recursive: true, force: true });
    forget(options);
  };
  // The runtime's own hook ends the process at a signal, without waiting for pending work.
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

/** The origin of a deployment without a domain, in the account's one subdomain. */
export const originOf = (name: string) => `https://${name}.example.workers.dev`;

/** The token of the set-up link that a deploy printed. */
export function linkIn(output: string): string {
  const [, token] = /https:\S+\/setup#(\S+)/.exec(output) ?? [];
  if (token === undefined) throw new Error(`the deploy made no set-up link:\n${output.slice(-SHOWN)}`);
  return token;
}

/** Runs the first `npm run deploy`, with all answers; returns what it printed. */
async function deploy(account: Account, options: DeployOptions): Promise<string> {
  const { name, variables = {}, secrets = {}, sources = ROOT } = options;
  const { folder, secretsFile, rememberedFile } = deploymentOf(name);
  if (!existsSync(join(sources, secretsFile))) {
    mkdirSync(join(sources, folder), { recursive: true, mode: 0o700 });
    const lines = Object.entries({ CHAIN_SOURCES, ...secrets }).map(([secret, text]) => `${secret}='${text}'\n`);
    writeFileSync(join(sources, secretsFile), lines.join(""), { mode: 0o600 });
  }
  const given = Object.entries(variables).flatMap(([variable, value]) => ["--var", `${variable}=${value}`]);
  const isFirst = !existsSync(join(sources, rememberedFile));
  const answers = isFirst ? ["--location", "weur", "--workers-dev", "--mail", "none", ...given] : [];
  return good(account, ["scripts/deploy.ts", "--name", name, ...answers, "--yes"], sources);
}

/** Like `run`, but throws with the end of the output if the program failed or sent a request that the account does not support. */
export async function good(account: Account, args: readonly string[], folder = ROOT): Promise<string> {
  const { status, output } = await run(account, args, folder);
  if (status !== 0) throw new Error(`${args[0]} failed:\n${output.slice(-SHOWN)}`);
  if (account.unknown.length > 0) throw new Error(`wrangler asked what the account does not know: ${account.unknown}`);
  return output;
}

/** Runs a program in Node, in the folder, with the account as Cloudflare. */
export async function run(account: Account, args: readonly string[], folder = ROOT) {
  const { VITEST: _, VITEST_POOL_ID: __, VITEST_WORKER_ID: ___, ...environment } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: {
      ...environment,
      ...QUIET,
      CLOUDFLARE_API_BASE_URL: account.url,
      CLOUDFLARE_API_TOKEN: "of-the-twin",
      // wrangler remembers the last chosen account across folders.
      CLOUDFLARE_ACCOUNT_ID: account.id,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const status = await new Promise<number | null>((end) => child.on("close", end));
  return { status, output };
}

/** Removes the files that a deploy left in the root. */
function forget({ name, sources = ROOT }: DeployOptions): void {
  const { folder, configuration } = deploymentOf(name);
  for (const path of [folder, configuration]) rmSync(join(sources, path), { recursive: true, force: true });
}
