// Runs the Worker in Node, set up as in production: D1 and the Durable Objects use SQLite, and fakes replace the queue, two rate sources and an
// Ethereum node. The clock moves with that chain, so a walk is the same on every machine.
import { DatabaseSync } from "node:sqlite";
import { keyringOf } from "../../src/platform/keys/keyrings.ts";
import {
  migratedDatabase,
  savepoints,
  sqliteD1,
  sqliteStorage,
  statementCache,
} from "../../test/simulation/engine/sqlite-d1.ts";
import { COINBASE, KRAKEN } from "../../test/support/rate-payloads.ts";
import { standInFor } from "../../test/support/stand-ins.ts";
import { SECRETS } from "../home.ts";
import { insertSql, newDemo } from "../seed.ts";
import { Ethereum } from "./ethereum.ts";

type Worker = typeof import("../../src/app/worker.ts");
/** The constructor that all Durable Object classes have. */
type ObjectClass = new (state: DurableObjectState, env: Cloudflare.Env) => object;

type KeyKind = "SECRET" | "PUBLIC";

interface Sender {
  /** Which of the merchant's keys to use; by default the secret key. */
  readonly by?: KeyKind;
  readonly idempotencyKey?: string;
}

const NODE_URL = "https://eth.example.com";
const SETTINGS = {
  ENVIRONMENT: "production",
  // Log lines are not part of a walk.
  LOG_SAMPLE: "0",
  PUBLIC_URL: "https://pay.example.com",
  RATE_SOURCE: "coinbase,kraken",
  RATE_LIMIT_PER_MINUTE: "300",
  MAIL_FROM: "Shop <pay@example.com>",
  POLL_SECONDS: "",
  LOCATION_HINT: "",
  WEBHOOK_LOOPBACK: "",
  WEBHOOK_SCHEDULE_SECONDS: "",
  DEV_CONTROL: "",
  CHAIN_SOURCES: JSON.stringify({
    ETH: [{ kind: "evm-rpc", url: NODE_URL }],
    BTC: [{ kind: "esplora", url: "https://btc.example.com" }],
  }),
  SIGN_UP: "first",
  SIGN_IN_PROVIDERS: "{}",
  MAIL_PROVIDER: '{"kind":"cloudflare"}',
};

export class Stage {
  readonly chain = new Ethereum();
  /** The number of messages sent to the queue; each wakes the endpoint. */
  woken = 0;
  readonly #worker: Worker;
  readonly #env: Env;
  readonly #background = new Set<Promise<unknown>>();
  readonly #merchantId: string;
  readonly #keys: Readonly<Record<KeyKind, string>>;

  private constructor(worker: Worker) {
    this.#worker = worker;
    const sqlite = migratedDatabase();
    const secrets = Object.fromEntries(Object.entries(SECRETS).map(([name, make]) => [name, make()]));
    const macKeys = keyringOf(secrets, "API_KEY_MAC_KEY");
    if (!macKeys.ok) throw new Error(macKeys.error);
    const demo = newDemo(macKeys.value, this.chain.nowMs);
    sqlite.exec(insertSql(demo.rows));
    sqlite.exec(endpointSql(demo.merchant.id, this.chain.nowMs));
    sqlite.exec(`INSERT INTO deployment (id, set_up_at_ms) VALUES (1, ${this.chain.nowMs})`);
    this.#merchantId = demo.merchant.id;
    this.#keys = { SECRET: demo.secret.secret, PUBLIC: demo.open.secret };
    this.#env = this.#environment(sqlite, secrets);
  }

  /** Replaces the clock and the network access of the process. */
  static async open(): Promise<Stage> {
    const stage = new Stage(await import("../../src/app/worker.ts"));
    Date.now = () => stage.chain.nowMs;
    globalThis.fetch = async (url, init) => stage.#fetched(String(url), init);
    return stage;
  }

  /** Sends a request as the merchant's server and waits for all work after the response. Throws if it is refused. */
  async post<T>(path: string, body: object, as: Sender = {}): Promise<T> {
    const request = new Request(`${SETTINGS.PUBLIC_URL}/api/v1/merchants/merchant/${this.#merchantId}/${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "cf-connecting-ip": "203.0.113.7",
        "x-api-key": this.#keys[as.by ?? "SECRET"],
        ...(as.idempotencyKey === undefined ? {} : { "idempotency-key": as.idempotencyKey }),
      },
      body: JSON.stringify(body),
    });
    const context = standInFor<ExecutionContext>({ waitUntil: (work: Promise<unknown>) => this.#keep(work) });
    const answer = await this.#worker.default.fetch(request, this.#env, context);
    await this.#rest();
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** Runs one pass of the Ethereum watcher. */
  async watch(): Promise<void> {
    const watcher = this.#env.NETWORK_WATCHER.getByName("ETH");
    await calling(watcher, "alarm")();
    await this.#rest();
  }

  #environment(sqlite: DatabaseSync, secrets: Readonly<Record<string, string>>): Cloudflare.Env {
    const classes: Readonly<Record<string, ObjectClass>> = {
      ADDRESS_ALLOCATOR: this.#worker.AddressAllocator,
      AMOUNT_ALLOCATOR: this.#worker.AmountAllocator,
      MERCHANT_OBJECT: this.#worker.MerchantObject,
      DIRECTORY: this.#worker.Directory,
      RATE_LIMITER: this.#worker.RateLimiter,
      RATE_BOOK: this.#worker.RateBook,
      NETWORK_WATCHER: this.#worker.NetworkWatcher,
      CHECKOUT_ROOM: this.#worker.CheckoutRoom,
    };
    const env = standInFor<Cloudflare.Env>({
      ...SETTINGS,
      ...secrets,
      DB: sqliteD1(statementCache(sqlite), savepoints(sqlite), async (_, work) => work()),
      SEND_EMAIL: { send: async () => {} },
      IP_SHIELD: { limit: async () => ({ success: true }) },
      FAILED_CREDENTIALS: { limit: async () => ({ success: true }) },
      WEBHOOK_QUEUE: {
        sendBatch: async (messages: readonly unknown[]) => {
          this.woken += messages.length;
        },
      },
    });
    for (const [binding, type] of Object.entries(classes))
      Object.assign(env, { [binding]: this.#namespace(type, env) });
    return env;
  }

  /** Durable Objects by name, each created at the first call, with asynchronous methods as on the platform. */
  #namespace(type: ObjectClass, env: Cloudflare.Env) {
    const objects = new Map<string, object>();
    return {
      getByName: (name: string) => {
        const object = objects.get(name) ?? new type(this.#state(name), env);
        objects.set(name, object);
        return new Proxy({}, { get: (_, method) => calling(object, String(method)) });
      },
    };
  }

  #state(name: string): DurableObjectState {
    const sqlite = new DatabaseSync(":memory:");
    let alarmMs: number | null = null;
    const storage = {
      ...sqliteStorage(statementCache(sqlite), savepoints(sqlite)),
      getAlarm: async () => alarmMs,
      setAlarm: async (atMs: number) => {
        alarmMs = atMs;
      },
      deleteAlarm: async () => {
        alarmMs = null;
      },
    };
    return standInFor<DurableObjectState>({
      id: { name },
      storage,
      waitUntil: (work: Promise<unknown>) => this.#keep(work),
      blockConcurrencyWhile: (work: () => Promise<unknown>) => work(),
      setWebSocketAutoResponse: () => {},
      getWebSockets: () => [],
    });
  }

  #keep(work: Promise<unknown>): void {
    this.#background.add(work);
    work.finally(() => this.#background.delete(work)).catch(() => {});
  }

  /** Waits until the Worker is idle: a watcher's background work cannot be awaited, but takes only a few turns of the event loop. */
  async #rest(): Promise<void> {
    for (let turns = 0; turns < 20 || this.#background.size > 0; turns++)
      await new Promise((next) => setImmediate(next));
  }

  #fetched(url: string, init: RequestInit | undefined): Response {
    if (url.startsWith(NODE_URL)) return Response.json(this.chain.answer(String(init?.body)));
    if (url.includes("coinbase")) return new Response(COINBASE);
    if (url.includes("kraken")) return new Response(KRAKEN);
    throw new Error(`nobody answers at ${url}`);
  }
}

const calling =
  (object: object, method: string) =>
  async (...args: unknown[]): Promise<unknown> =>
    Reflect.get(object, method).apply(object, args);

/** An endpoint that gets every event. */
function endpointSql(merchantId: string, nowMs: number): string {
  return `INSERT INTO webhooks (id, merchant_id, url, events, is_active, retry_count, timeout_ms, failures_in_row, created_at_ms, updated_at_ms)
    VALUES ('whk_1', '${merchantId}', 'https://shop.example.com/hook', '["*"]', 1, 5, 5000, 0, ${nowMs}, ${nowMs});`;
}

Object.assign(globalThis, { WebSocketRequestResponsePair: class {} });
