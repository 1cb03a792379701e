// A deployment of the twin: created by `npm run deploy`'s own program and real wrangler, set up through its link, and run from the uploaded code.
import type { Account } from "./account.ts";
import { type Strategy, strategyOf, type Upload } from "./account-kept.ts";
import { CpuWatch } from "./cpu.ts";
import { type Deploying, type DeployOptions, linkIn, openAccount, originOf, type TwinAccount } from "./deploys.ts";
import type { Ways } from "./entry.ts";
import { type Gate, startGate } from "./gate.ts";
import { HeapWatch } from "./heap.ts";
import { World } from "./internet.ts";
import { type Manners, Queues } from "./queues.ts";
import { type Part, Runtime, type RuntimeOptions } from "./runtime.ts";
import { redeem } from "./set-up.ts";
import { type JobFault, jobFaultIn } from "./troubles.ts";
import type { Weather } from "./weather.ts";

const HEAP_EVERY_MS = 5_000;
/** How far the clocks of two machines differ if they are synchronized over the network. */
const CLOCK_MS = 100;

interface TwinOptions extends DeployOptions {
  readonly weather: Weather;
  readonly manners: Manners;
  /** Milliseconds between two crons; production runs one a minute. If unset, crons run only when `cron` is called. */
  readonly cronEveryMs?: number;
  readonly chainUrl: string;
  /** How far the objects' clock is ahead of the edge's; default 100. */
  readonly clockMs?: number;
  readonly random: () => number;
  /** Called with each log line. */
  readonly onLog?: (line: string) => void;
}

export interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly cookies: readonly string[];
  /** The delay in Retry-After; 0 without the header. */
  readonly retryAfterMs: number;
}

interface Calls {
  objects: number;
  requests: number;
  messages: number;
  crons: number;
  /** Milliseconds during which an object had a call or a timer open, over all objects. */
  awakeMs: number;
}

export interface Switch {
  readonly played: Strategy;
  readonly uploaded: Strategy;
}

/** When each fault happened, by kind: refused or lost calls to objects, restarts of objects and isolates. */
type Troubles = ReadonlyMap<string, readonly number[]>;

export interface Twin extends Pick<TwinAccount, "account" | "store" | "wrangler" | "stop"> {
  readonly world: World;
  readonly gate: Gate;
  readonly queues: Queues;
  readonly origin: string;
  /** The most timers each object had at once; objects with at most two are omitted. */
  readonly timers: ReadonlyMap<string, number>;
  /** Heap sizes of the edge's isolate and the objects' isolate. */
  readonly heap: HeapWatch;
  /** CPU time of the edge's process. */
  readonly cpu: CpuWatch;
  /** Object calls, requests, messages and crons so far. */
  readonly calls: Readonly<Calls>;
  /** Sets the shares of object calls that fail, and of calls during which the object restarts; both are 0 at first. */
  setObjectFaults(shares: Pick<Ways, "faults" | "resets">): Promise<void>;
  /** Restarts the isolates of these parts; requests to them are cut. */
  recycle(parts: readonly Part[]): Promise<void>;
  /** Times in milliseconds since 1970, oldest first. */
  readonly troubles: Troubles;
  /** Faults that the deployment's jobs logged, oldest first. */
  readonly jobFaults: readonly JobFault[];
  /** When requests were answered with 503, in order, in milliseconds since 1970. */
  readonly refusedAt: readonly number[];
  ask(path: string, asked?: Asked): Promise<Answered>;
  /** Runs each cron once, with this time. */
  cron(atMs: number): Promise<void>;
  /** Stops the automatic crons for this long. */
  pauseCrons(ms: number): void;
  /** Deploys again but keeps running the old code, so that a later upgrade takes no time. */
  upload(): Promise<void>;
  /**
   * Deploys again, by default in the same way, or uses the existing upload. The strategy is by default the deploy's own. With "deferred" the existing
   * objects keep their code until `settle`.
   */
  upgrade(how?: Deploying, strategy?: Strategy): Promise<Strategy>;
  /** Moves all objects to the newest code, as the platform does within five minutes of a deferred upgrade. */
  settle(): Promise<void>;
  /** The strategy that each upgrade used here, and the strategy in its deploy, oldest first. */
  readonly switches: readonly Switch[];
  /** Opens the set-up link; returns the headers of the operator's session. */
  setUp(): Promise<Readonly<Record<string, string>>>;
}

/** The running Workers of each account, by name. A message goes to the consumer of its queue, no matter who sent it. */
const running = new WeakMap<Account, Map<string, Runtime>>();

/** `beside`: another deployment whose account this one shares. */
export async function openTwin(options: TwinOptions, beside?: Twin): Promise<Twin> {
  const opened = await openAccount(options, beside);
  const ended: (() => unknown)[] = [opened.stop];
  const stop = async () => {
    for (const end of ended.splice(0).reverse()) await end();
  };
  try {
    const databases = databasesOf(newest(opened.account, options.name));
    const { weather, random } = options;
    const databaseOf = (binding: string) => databases.get(binding);
    const gate = await startGate({ store: opened.store, weather, random, databaseOf });
    ended.push(() => gate.stop());
    const twin = new Running(options, opened, gate);
    ended.push(() => twin.end());
    return Object.assign(twin, { stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Runs the uploaded code between the internet and the gate, and records what it does. */
class Running implements Omit<Twin, "stop"> {
  readonly account: Account;
  readonly store: TwinAccount["store"];
  readonly wrangler: TwinAccount["wrangler"];
  readonly gate: Gate;
  readonly world: World;
  readonly queues: Queues;
  readonly origin: string;
  readonly timers = new Map<string, number>();
  readonly calls: Calls = { objects: 0, requests: 0, messages: 0, crons: 0, awakeMs: 0 };
  readonly troubles = new Map<string, number[]>();
  readonly jobFaults: JobFault[] = [];
  readonly refusedAt: number[] = [];
  readonly switches: Switch[] = [];
  readonly heap: HeapWatch;
  readonly cpu: CpuWatch;
  readonly ask: Twin["ask"];
  readonly #options: TwinOptions;
  readonly #opened: TwinAccount;
  readonly #runtime: Runtime;
  /** The upload that runs at the edge. */
  #upload: Upload;
  /** Ids of the objects that are awake. */
  readonly #made = new Set<string>();
  readonly #endCrons: () => void;
  /** Automatic crons are paused until this time. */
  #cronsFromMs = 0;
  #isSettled = true;

  constructor(options: TwinOptions, opened: TwinAccount, gate: Gate) {
    const { name, manners, random, chainUrl, cronEveryMs } = options;
    this.#options = options;
    this.#opened = opened;
    this.account = opened.account;
    this.store = opened.store;
    this.wrangler = opened.wrangler;
    this.gate = gate;
    this.world = new World(chainUrl);
    this.origin = originOf(name);
    this.#upload = newest(this.account, name);
    this.#runtime = new Runtime(this.#runtimeOptions());
    const workers = running.get(opened.account) ?? new Map<string, Runtime>();
    running.set(opened.account, workers.set(name, this.#runtime));
    this.queues = new Queues({
      consumerOf: (queue) => this.account.queues.find((each) => each.name === queue)?.consumer,
      consume: async (queue, messages) => {
        const { script = "" } = this.account.queues.find((each) => each.name === queue)?.consumer ?? {};
        return (await workers.get(script)?.consume(queue, messages)) ?? "failed";
      },
      manners,
      random,
    });
    this.heap = new HeapWatch(() => this.#runtime.heaps(), HEAP_EVERY_MS);
    this.cpu = new CpuWatch(async () => Number((await this.#runtime.inspector("edge")).port), HEAP_EVERY_MS);
    this.ask = asking(this.#runtime, this.origin, { calls: this.calls, refusedAt: this.refusedAt });
    this.#endCrons =
      cronEveryMs === undefined
        ? () => {}
        : runCrons(async (atMs) => (atMs < this.#cronsFromMs ? undefined : this.cron(atMs)), cronEveryMs);
  }

  #runtimeOptions(): RuntimeOptions {
    const { name, weather, clockMs = CLOCK_MS, onLog } = this.#options;
    const upload = this.#upload;
    return {
      name,
      folder: this.#opened.folder,
      edge: upload,
      objects: upload,
      gate: this.gate.url,
      ways: { hop: weather.hop, clockMs, faults: 0, resets: 0 },
      onFault: (kind) => this.#note(kind),
      internet: this.world.internet,
      onMessage: (queue, body) => {
        this.calls.messages += 1;
        this.queues.send(queue, body);
      },
      onCalls: (more, awakeMs) => {
        this.calls.objects += more;
        this.calls.awakeMs += awakeMs;
      },
      onMade: (id) => this.#made.add(id),
      onTimers: (object, most) => this.timers.set(object, Math.max(most, this.timers.get(object) ?? 0)),
      onLog: (line) => {
        const fault = jobFaultIn(line, Date.now());
        if (fault !== undefined) this.jobFaults.push(fault);
        onLog?.(line);
      },
    };
  }

  pauseCrons(ms: number): void {
    this.#cronsFromMs = Date.now() + ms;
  }

  async cron(atMs: number): Promise<void> {
    for (const each of this.account.worker(this.#options.name)?.crons ?? []) {
      this.calls.crons += 1;
      await this.#runtime.cron(each, atMs).catch(() => undefined);
    }
  }

  upload(): Promise<void> {
    return this.#opened.upgrade();
  }

  async upgrade(how?: Deploying, strategy?: Strategy): Promise<Strategy> {
    const { name } = this.#options;
    const before = this.#upload;
    if (newest(this.account, name) === before) await (how === undefined ? this.upload() : how(this.account));
    const now = newest(this.account, name);
    this.#upload = now;
    const uploaded = strategyOf(this.account.worker(name)?.strategies.at(-1));
    const played = strategy ?? uploaded;
    this.switches.push({ played, uploaded });
    const older = played === "deferred" ? { upload: before, ids: new Set(this.#made) } : undefined;
    await this.#change(["objects", "edge"], { edge: now, objects: now, older });
    this.#isSettled = older === undefined;
    return played;
  }

  async settle(): Promise<void> {
    if (this.#isSettled) return;
    await this.#change(["objects"], { older: undefined });
    this.#isSettled = true;
  }

  recycle(parts: readonly Part[]): Promise<void> {
    return this.#change(parts);
  }

  setObjectFaults(shares: Pick<Ways, "faults" | "resets">): Promise<void> {
    return this.#runtime.setWays(shares);
  }

  setUp(): Promise<Readonly<Record<string, string>>> {
    return redeem(this.ask, this.origin, linkIn(this.#opened.output));
  }

  /** Stops what this class started, but nothing that was opened before it. */
  async end(): Promise<void> {
    this.#endCrons();
    this.heap.stop();
    this.cpu.stop();
    this.queues.stop();
    await this.#runtime.stop();
  }

  async #change(...[parts, code]: Parameters<Runtime["change"]>): Promise<void> {
    this.#note("recycled");
    await this.cpu.sample().catch(() => undefined);
    await this.#runtime.change(parts, code);
    // No object is awake any longer. Objects that wake up later get the newest code.
    if (parts.includes("objects")) this.#made.clear();
    this.heap.begun();
    this.#note("recycled");
  }

  #note(kind: string): void {
    this.troubles.set(kind, [...(this.troubles.get(kind) ?? []), Date.now()]);
  }
}

/** Sends each request from a different customer's address. */
function asking(
  runtime: Runtime,
  origin: string,
  { calls, refusedAt }: { readonly calls: Calls; readonly refusedAt: number[] },
): Twin["ask"] {
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
    if (answer.status === 503) refusedAt.push(Date.now());
    const retryAfterMs = 1_000 * Number(answer.headers.get("retry-after") ?? 0);
    return { status: answer.status, text, cookies: answer.headers.getSetCookie(), retryAfterMs };
  };
}

function newest(account: Account, name: string): Upload {
  const upload = account.worker(name)?.uploads.at(-1);
  if (upload === undefined) throw new Error(`nothing was uploaded as ${name}`);
  return upload;
}

const databasesOf = ({ bindings }: Upload): ReadonlyMap<string, string> =>
  new Map(bindings.filter(({ type }) => type === "d1").map(({ name, id }) => [name, String(id)]));

/** How often each cron runs, in order: sometimes twice, or not at all. */
const TIMES = [1, 1, 2, 1, 0, 1, 1];

function runCrons(cron: Twin["cron"], everyMs: number): () => void {
  let runs = 0;
  const timer = setInterval(() => {
    runs += 1;
    for (let time = 0; time < (TIMES[runs % TIMES.length] ?? 1); time++) void cron(Date.now());
  }, everyMs);
  return () => clearInterval(timer);
}
