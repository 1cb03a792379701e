// The product as it is deployed: the minified bundle of src/app/worker.ts with the bindings of wrangler.toml, its own migrations, and merchants with
// keys. Three settings differ from production: rates are fixed, networks need no chain source (ENVIRONMENT=development), and webhooks may go to
// loopback. The queue is that of the development server, with the compatibility flag that keeps a hanging endpoint from blocking other deliveries
// (scripts/wrangler.ts).
import { readdirSync, readFileSync } from "node:fs";
import { COMPATIBILITY_FLAGS } from "../scripts/wrangler.ts";
import { newApiKey } from "../src/accounts/auth/api-key.ts";
import { keyPermissionName, SECRET_KEY_PERMISSIONS } from "../src/accounts/roles/permissions.ts";
import { sha256Hex } from "../src/lib/bytes.ts";
import { makeId, newUlid } from "../src/lib/ids.ts";
import { keyringOf } from "../src/platform/keys/keyrings.ts";
import { bundleWorker, type Entry } from "./bundle.ts";
import { type BenchDatabase, type Served, serve, type WorkerShape } from "./serve.ts";

export interface ProductOptions {
  /** Requests per minute and key; 0 disables the limiter. */
  readonly rateLimit?: number;
  /** The share of log lines that are written; 1 by default, as in production. */
  readonly logSample?: string;
  /** Whether data points are written, to Miniflare's own dataset. */
  readonly hasAnalytics?: boolean;
  readonly entry?: Entry;
  /** Opens the inspector and does not minify the code, for a profile. */
  readonly inspectorPort?: number;
}

export interface Merchant {
  readonly merchantId: string;
  readonly headers: { readonly "x-api-key": string };
  /** The full path for a path below the merchant's own, such as `/invoices`. */
  readonly path: (rest: string) => string;
}

export interface Product {
  readonly served: Served;
  readonly code: string;
  /** The source map of a profile's bundle; otherwise empty. */
  readonly sourceMap: string;
  readonly database: BenchDatabase;
  readonly newMerchant: () => Promise<Merchant>;
}

export const WORKER_NAME = "edgetill";
/** A limit that is never reached. Requests are still counted, so creates are measured with the limiter on. */
const ALLOW_ALL = 1_000_000;
/** So high that no merchant of a benchmark reaches its limit of active invoices. */
const MAX_ACTIVE_INVOICES = 1_000_000_000;

export async function serveProduct(options: ProductOptions = {}): Promise<Product> {
  const isProfiled = options.inspectorPort !== undefined;
  const masterKey = freshKeyring();
  const { code, sourceMap, texts } = await bundleWorker(options.entry ?? { file: "src/app/worker.ts" }, isProfiled);
  const served = await serve({
    code,
    texts,
    options: await workerOptions(options, masterKey),
    ...(isProfiled ? { inspectorPort: options.inspectorPort } : {}),
  });
  const database = await served.database();
  await migrate(database);
  return { served, code, sourceMap, database, newMerchant: () => newMerchant(database, masterKey) };
}

/** wrangler.toml as wrangler itself reads it for local use, with our variables. */
async function workerOptions(
  { rateLimit = ALLOW_ALL, logSample = "1", hasAnalytics = false }: ProductOptions,
  masterKey: string,
): Promise<WorkerShape["options"]> {
  // Set before wrangler is loaded, because it warns about secrets that it cannot find here.
  process.env.WRANGLER_LOG = "none";
  const { unstable_getMiniflareWorkerOptions } = await import("wrangler");
  // Static assets are not measured, and with them every request would take one more step.
  const { assets: _, ...workerOptions } = unstable_getMiniflareWorkerOptions("wrangler.toml").workerOptions;
  return {
    ...workerOptions,
    name: WORKER_NAME,
    compatibilityFlags: [...COMPATIBILITY_FLAGS],
    ...(hasAnalytics ? { analyticsEngineDatasets: { ANALYTICS: { dataset: "bench" } } } : {}),
    bindings: {
      ...Object(workerOptions.bindings),
      ENVIRONMENT: "development",
      PUBLIC_URL: "http://localhost",
      RATE_SOURCE: "fixed",
      RATE_LIMIT_PER_MINUTE: String(rateLimit),
      MASTER_KEY: masterKey,
      MAIL_FROM: "bench@example.com",
      WEBHOOK_LOOPBACK: "on",
      LOG_SAMPLE: logSample,
    },
  };
}

function freshKeyring(): string {
  return `bench:${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;
}

/** Adds a member to the merchant's team, and returns the headers of a session of that member. */
export async function memberHeaders(database: BenchDatabase, merchantId: string): Promise<{ readonly cookie: string }> {
  const nowMs = Date.now();
  const newId = (prefix: "usr" | "mem" | "ses") =>
    makeId(prefix, newUlid(nowMs, crypto.getRandomValues(new Uint8Array(16))));
  const userId = newId("usr");
  const token = crypto.randomUUID();
  await database.batch([
    database
      .prepare("INSERT INTO users (id, email, email_key, created_at_ms, updated_at_ms) VALUES (?1, ?1, ?1, ?2, ?2)")
      .bind(userId, nowMs),
    database
      .prepare(
        "INSERT INTO members (id, merchant_id, user_id, role, created_at_ms, updated_at_ms) VALUES (?1, ?2, ?3, 'ADMIN', ?4, ?4)",
      )
      .bind(newId("mem"), merchantId, userId, nowMs),
    database
      .prepare(
        "INSERT INTO sessions (id, user_id, token_hash, state, signed_in_with, created_at_ms, last_seen_at_ms) VALUES (?1, ?2, ?3, 'ACTIVE', 'EMAIL_CODE', ?4, ?4)",
      )
      .bind(newId("ses"), userId, sha256Hex(token), nowMs),
  ]);
  return { cookie: `session=${token}` };
}

async function migrate(database: BenchDatabase): Promise<void> {
  const files = readdirSync("migrations").filter((name) => name.endsWith(".sql"));
  for (const file of files.sort()) {
    const statements = readFileSync(`migrations/${file}`, "utf8").split("--> statement-breakpoint");
    await database.batch(statements.map((statement) => database.prepare(statement)));
  }
}

async function newMerchant(database: BenchDatabase, masterKey: string): Promise<Merchant> {
  const macKeys = keyringOf({ MASTER_KEY: masterKey }, "API_KEY_MAC_KEY");
  if (!macKeys.ok) throw new Error(macKeys.error);
  const nowMs = Date.now();
  const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
  const merchantId = makeId("mer", newUlid(nowMs, randomBytes(16)));
  const key = newApiKey({ kind: "SECRET", merchantId, macKeys: macKeys.value, randomBytes });
  const permissions = JSON.stringify(SECRET_KEY_PERMISSIONS.map(keyPermissionName));
  await database.batch([
    database
      .prepare(
        "INSERT INTO merchants (id, name, max_active_invoices, created_at_ms, updated_at_ms) VALUES (?, ?, ?, ?, ?)",
      )
      .bind(merchantId, "Bench", MAX_ACTIVE_INVOICES, nowMs, nowMs),
    database.prepare("INSERT INTO teams (merchant_id, updated_at_ms) VALUES (?, ?)").bind(merchantId, nowMs),
    database
      .prepare(
        "INSERT INTO api_keys (id, merchant_id, kind, name, hash, display, permissions, created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      )
      .bind(
        makeId("key", newUlid(nowMs, randomBytes(16))),
        merchantId,
        "SECRET",
        "bench",
        key.hash,
        key.display,
        permissions,
        nowMs,
      ),
  ]);
  return {
    merchantId,
    headers: { "x-api-key": key.secret },
    path: (rest) => `/api/v1/merchants/merchant/${merchantId}${rest}`,
  };
}

/** Registers a wallet over HTTP, as a merchant would; throws with the answer on failure. */
export async function registerWallet(product: Product, merchant: Merchant, wallet: object): Promise<void> {
  const answer = await product.served.fetch(merchant.path("/wallets"), {
    method: "POST",
    headers: { ...merchant.headers, "content-type": "application/json" },
    body: JSON.stringify(wallet),
  });
  if (answer.status !== 201) throw new Error(`a wallet was refused: ${answer.status} ${await answer.text()}`);
}
