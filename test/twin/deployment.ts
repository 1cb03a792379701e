// A deployment of the twin: made by `npm run deploy`'s own program and real wrangler, set up by its link, and run as it was uploaded.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { deploymentOf } from "../../scripts/deploy/deployment.ts";
import { WRANGLER } from "../../scripts/wrangler.ts";
import { softwareAuthenticator } from "../support/software-authenticator.ts";
import { type Account, startAccount } from "./account.ts";
import type { Upload } from "./account-kept.ts";
import type { Ways } from "./entry.ts";
import { type Gate, startGate } from "./gate.ts";
import { HeapWatch } from "./heap.ts";
import { CHAIN_SOURCES, World } from "./internet.ts";
import { type Manners, Queues } from "./queues.ts";
import { Runtime } from "./runtime.ts";
import { type Store, startStore } from "./store.ts";
import { type JobFault, jobFaultIn } from "./troubles.ts";
import type { Weather } from "./weather.ts";

export const ROOT = resolve(import.meta.dirname, "../..");
/** Without the banner wrangler asks no registry for a newer version. */
const QUIET = { NO_COLOR: "1", WRANGLER_LOG: "log", WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" };
/** Characters of a deploy's output that an error shows. */
const SHOWN = 6_000;
const HEAP_EVERY_MS = 5_000;
/** Between two machines whose clocks are kept by the network. */
const CLOCK_MS = 100;

export interface TwinOptions {
  /** Of the deployment; a test of any other name than `edgetill` is what this is for. */
  readonly name: string;
  readonly weather: Weather;
  readonly manners: Manners;
  /** Milliseconds between two crons; production runs one a minute. Without it they run when `cron` is called. */
  readonly cronEveryMs?: number;
  readonly chainUrl: string;
  /** How far the clock of the objects is before that of the edge; 100. */
  readonly clockMs?: number;
  readonly random: () => number;
  /** Instead of those of wrangler.toml. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Hears each line of the log. */
  readonly onLog?: (line: string) => void;
  /** Instead of `npm run deploy` of this release. */
  readonly first?: Deploying;
}

/** Deploys to the account; what was printed. */
export type Deploying = (account: Account) => Promise<string>;

export interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly json: never;
  readonly cookies: readonly string[];
}

export interface Calls {
  objects: number;
  requests: number;
  messages: number;
  crons: number;
}

/** When what befell it, by kind: calls of objects that were refused or lost, objects and isolates that began anew. */
export type Troubles = ReadonlyMap<string, readonly number[]>;

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

/** Deploys for the first time. */
export async function openAccount(options: Pick<TwinOptions, "name" | "variables" | "first">): Promise<TwinAccount> {
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
    const store = startStore(join(folder, "databases"));
    ended.push(() => store.stop());
    const account = await startAccount(store.query);
    ended.push(() => account.stop());
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

export interface Twin extends Pick<TwinAccount, "account" | "wrangler" | "stop"> {
  readonly world: World;
  readonly gate: Gate;
  readonly queues: Queues;
  readonly origin: string;
  /** The most timers that any object had at once, by object; objects with up to two are left out. */
  readonly timers: ReadonlyMap<string, number>;
  /** Of the edge's isolate and that of the objects. */
  readonly heap: HeapWatch;
  /** Calls of objects, requests, messages and crons so far. */
  readonly calls: Readonly<Calls>;
  /** Shares of the calls of objects that fail, and that meet an object which begins anew; a twin begins with none. */
  setObjectFaults(shares: Pick<Ways, "faults" | "resets">): Promise<void>;
  /** All isolates begin anew, and requests are cut. */
  recycle(): Promise<void>;
  /** Milliseconds since 1970 of each, oldest first. */
  readonly troubles: Troubles;
  /** What its jobs said of faults, oldest first. */
  readonly jobFaults: readonly JobFault[];
  ask(path: string, asked?: Asked): Promise<Answered>;
  /** Runs each cron once, as that of this time. */
  cron(atMs: number): Promise<void>;
  /** Deploys again, if need be in another way; until `settle` the objects that are there run the code that they had. */
  upgrade(how?: Deploying): Promise<void>;
  /** Runs all objects with the newest code, as the platform does at the latest five minutes after an upgrade. */
  settle(): Promise<void>;
  /** Opens the set-up link; the headers of the operator's session. */
  setUp(): Promise<Readonly<Record<string, string>>>;
}

export async function openTwin(options: TwinOptions): Promise<Twin> {
  const { name, random } = options;
  const opened = await openAccount(options);
  const { account, store, folder, output, wrangler } = opened;
  const ended: (() => unknown)[] = [opened.stop];
  const stop = async () => {
    for (const end of ended.splice(0).reverse()) await end();
  };
  try {
    const origin = originOf(name);
    const upload = newest(account, name);
    const world = new World(options.chainUrl);
    const timers = new Map<string, number>();
    const calls: Calls = { objects: 0, requests: 0, messages: 0, crons: 0 };
    const jobFaults: JobFault[] = [];
    const troubles = new Map<string, number[]>();
    const note = (kind: string) => void troubles.set(kind, [...(troubles.get(kind) ?? []), Date.now()]);
    const databases = databasesOf(upload);
    const made = new Set<string>();
    const gate = await startGate({
      store,
      weather: options.weather,
      random,
      databaseOf: (binding) => databases.get(binding),
    });
    ended.push(() => gate.stop());
    const queues = new Queues({
      consumerOf: (queue) => account.queues.find((each) => each.name === queue)?.consumer,
      consume: (queue, messages) => runtime.consume(queue, messages),
      manners: options.manners,
      random,
    });
    const runtime = new Runtime({
      name,
      folder,
      edge: upload,
      objects: upload,
      gate: gate.url,
      ways: { hop: options.weather.hop, clockMs: options.clockMs ?? CLOCK_MS, faults: 0, resets: 0 },
      onFault: note,
      internet: world.internet,
      onMessage: (queue, body) => {
        calls.messages += 1;
        queues.send(queue, body);
      },
      onCalls: (more) => (calls.objects += more),
      onMade: (id) => made.add(id),
      onTimers: (object, most) => timers.set(object, Math.max(most, timers.get(object) ?? 0)),
      onLog: (line) => {
        const fault = jobFaultIn(line, Date.now());
        if (fault !== undefined) jobFaults.push(fault);
        options.onLog?.(line);
      },
    });
    ended.push(
      () => runtime.stop(),
      () => queues.stop(),
    );
    const heap = new HeapWatch(() => runtime.heaps(), HEAP_EVERY_MS);
    ended.push(() => heap.stop());
    const change = async (code: Parameters<Runtime["change"]>[0]) => {
      note("recycled");
      await runtime.change(code);
      // None of them is awake any more, and one that nobody calls has the newest code when it is.
      made.clear();
      heap.begun();
      note("recycled");
    };
    const cron = async (atMs: number) => {
      for (const each of account.worker(name)?.crons ?? []) {
        calls.crons += 1;
        await runtime.cron(each, atMs).catch(() => undefined);
      }
    };
    if (options.cronEveryMs !== undefined) ended.push(runCrons(cron, options.cronEveryMs));
    const ask = asking(runtime, origin, calls);
    return {
      account,
      world,
      gate,
      queues,
      origin,
      timers,
      calls,
      troubles,
      jobFaults,
      heap,
      ask,
      cron,
      stop,
      upgrade: async (how) => {
        const before = newest(account, name);
        await (how === undefined ? opened.upgrade() : how(account));
        const now = newest(account, name);
        await change({ edge: now, objects: now, older: { upload: before, ids: new Set(made) } });
      },
      settle: () => change({ older: undefined }),
      setObjectFaults: (shares) => runtime.setWays(shares),
      recycle: () => change({}),
      wrangler,
      setUp: () => redeem(ask, origin, linkIn(output)),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Sends a request from the address of another customer each time. */
function asking(runtime: Runtime, origin: string, calls: Calls): Twin["ask"] {
  return async (path, { method = "GET", body, headers = {} } = {}) => {
    calls.requests += 1;
    const from = `198.51.${(calls.requests >> 8) & 255}.${calls.requests & 255}`;
    const answer = await runtime.fetch(`${origin}${path}`, {
      method,
      headers: {
        "cf-connecting-ip": from,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, text, json: parsed(text), cookies: answer.headers.getSetCookie() };
  };
}

function parsed(text: string): never {
  try {
    return JSON.parse(text) as never;
  } catch {
    return undefined as never;
  }
}

/** Of a deployment without a domain, in the account's one subdomain. */
export const originOf = (name: string) => `https://${name}.example.workers.dev`;

function linkIn(output: string): string {
  const [, token] = /https:\S+\/setup#(\S+)/.exec(output) ?? [];
  if (token === undefined) throw new Error(`the deploy made no set-up link:\n${output.slice(-SHOWN)}`);
  return token;
}

function newest(account: Account, name: string): Upload {
  const upload = account.worker(name)?.uploads.at(-1);
  if (upload === undefined) throw new Error(`nothing was uploaded as ${name}`);
  return upload;
}

const databasesOf = ({ bindings }: Upload): ReadonlyMap<string, string> =>
  new Map(bindings.filter(({ type }) => type === "d1").map(({ name, id }) => [name, String(id)]));

/** `npm run deploy`, for the first time with all answers; what it printed. */
async function deploy(
  account: Account,
  { name, variables = {} }: Pick<TwinOptions, "name" | "variables">,
): Promise<string> {
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

/** Now and then one runs twice, or not at all. */
const TIMES = [1, 1, 2, 1, 0, 1, 1];

function runCrons(cron: Twin["cron"], everyMs: number): () => void {
  let runs = 0;
  const timer = setInterval(() => {
    runs += 1;
    for (let time = 0; time < (TIMES[runs % TIMES.length] ?? 1); time++) void cron(Date.now());
  }, everyMs);
  return () => clearInterval(timer);
}

/** Opens the set-up link with a passkey; the headers of the operator's session. */
async function redeem(ask: Twin["ask"], origin: string, token: string): Promise<Readonly<Record<string, string>>> {
  const person = { token, email: "operator@example.com", name: "Ann" };
  const begun = await ask("/api/v1/setup/options", { method: "POST", headers: { origin }, body: person });
  if (begun.status !== 200) throw new Error(`the set-up was refused: ${begun.text}`);
  const authenticator = await softwareAuthenticator({ origin, rpId: new URL(origin).hostname });
  const credential = await authenticator.create(begun.json);
  const redeemed = await ask("/api/v1/setup", { method: "POST", headers: { origin }, body: { token, credential } });
  const cookie = redeemed.cookies.find((each) => /^(__Host-)?session=/.test(each))?.split(";")[0];
  if (cookie === undefined) throw new Error(`the set-up gave no session: ${redeemed.text}`);
  return { origin, cookie };
}
