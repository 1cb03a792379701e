// A merchant with its own development server, in a temporary home on a free port, and the API calls of a merchant's program. For the demo and for
// tests on real chains.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as z from "zod";
import type { invoiceBody, methodBody } from "../../src/commerce/invoices/contract.ts";
import type { paymentBody } from "../../src/commerce/payments/contract.ts";
import type { walletBody } from "../../src/commerce/wallets/contract.ts";
import { findFreePort } from "../free-port.ts";
import { type StartOptions, startServer } from "../server.ts";
import { readSettings, StartError } from "../settings.ts";

export type Invoice = z.infer<ReturnType<typeof invoiceBody>>;
export type PaymentMethod = z.infer<ReturnType<typeof methodBody>>;
export type Payment = z.infer<ReturnType<typeof paymentBody>>;
type Wallet = z.infer<ReturnType<typeof walletBody>>;

/** CHAIN_SOURCES as an object that maps each network to its sources, in the order in which they are queried. */
export type Sources = Readonly<
  Record<string, readonly { readonly kind: string; readonly url: string; readonly headers?: Record<string, string> }[]>
>;

export interface ShopOptions {
  readonly sources?: Sources;
  /** Seconds between two passes over every network; by default each network has its own interval. */
  readonly pollSeconds?: number;
  /** Seconds before each attempt of a delivery; default: the production schedule. */
  readonly webhookSchedule?: string;
  /** SIGN_IN_PROVIDERS as an object; default: none. */
  readonly signInProviders?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Turnstile's keys, and the address of a stand-in for its service; by default no one is challenged. */
  readonly turnstile?: { readonly siteKey: string; readonly secretKey: string; readonly origin: string };
  /** Inserts more rows at every start. */
  readonly seedMore?: StartOptions["seedMore"];
  readonly wrangler?: StartOptions["wrangler"];
}

/** A cryptocurrency and its network, with the API's member names. */
export interface Pair {
  readonly cryptocurrency: string;
  readonly network: string;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** Undefined if the text is not JSON. */
  readonly body: unknown;
}

export interface Shop {
  readonly baseUrl: string;
  readonly merchantId: string;
  /** File with the server's output. */
  readonly logFile: string;
  /** Calls any path of the server with the merchant's key and returns the answer, whatever its status. */
  raw(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Calls a path below the merchant's, e.g. `/invoices`; throws unless the answer is 2xx. The result type is not checked. */
  call<T>(method: string, rest: string, body?: unknown): Promise<T>;
  registerWallet(fields: Readonly<Record<string, unknown>>): Promise<Wallet>;
  /** Creates an invoice; the default is 10 USD. */
  createInvoice(fields?: Readonly<Record<string, unknown>>): Promise<Invoice>;
  invoice(id: string): Promise<Invoice>;
  activate(invoiceId: string, pair: Pair): Promise<PaymentMethod>;
  cancelInvoice(id: string): Promise<Invoice>;
  /** `action`: such as ACCEPT, DISMISS or RETURNED. */
  resolveInvoice(id: string, action: string, reason?: string): Promise<Invoice>;
  /** The merchant's payments, newest first; `query` without the question mark. */
  payments(query?: string): Promise<readonly Payment[]>;
  payment(id: string): Promise<Payment & { readonly evidence: unknown }>;
  resolvePayment(id: string, resolution: Readonly<Record<string, unknown>>): Promise<Payment>;
  changeSettings(changes: Readonly<Record<string, unknown>>): Promise<void>;
  /** Stops the server, runs `whileDown`, and starts it with the same state at the same address. */
  restart(whileDown?: () => Promise<void>): Promise<void>;
  /** Ends the server and removes its home. May be called again. */
  stop(): Promise<void>;
}

/** A merchant's address from public test vectors. Its private key is public, so never send real coins there. */
export const TEST_ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

const ANSWERS_WITHIN_MS = 30_000;
/** How many characters of the server's log an error includes. */
const LOG_SHOWN = 4_000;

/** Starts a shop, which takes several seconds. */
export async function startShop(options: ShopOptions = {}): Promise<Shop> {
  const home = mkdtempSync(join(tmpdir(), "edgetill-shop-"));
  const logFile = join(home, "server.log");
  const port = await findFreePort();
  const { seedMore, wrangler } = options;
  const start = () =>
    startServer(settingsOf(options, home, port), {
      logFile,
      wrangler,
      ...(seedMore === undefined ? {} : { seedMore }),
    });
  const forget = () => {
    process.removeListener("exit", forget);
    rmSync(home, { recursive: true, force: true });
  };
  process.once("exit", forget);
  let server = await start().catch((error: unknown) => {
    // The log is deleted with its home, so the error includes its end.
    const log = existsSync(logFile) ? readFileSync(logFile, "utf8").slice(-LOG_SHOWN) : "";
    forget();
    throw new StartError(`${error instanceof Error ? error.message : error}\n${log}`, { cause: error });
  });
  const { baseUrl, merchantId, secretKey } = server.demo;
  return {
    ...shopApi(baseUrl, merchantId, secretKey),
    logFile,
    restart: async (whileDown) => {
      await server.stop();
      await whileDown?.();
      server = await start();
    },
    stop: async () => {
      await server.stop();
      forget();
    },
  };
}

function settingsOf(options: ShopOptions, home: string, port: number) {
  const { sources = {}, pollSeconds, webhookSchedule = "", signInProviders = {}, turnstile } = options;
  return readSettings({
    PORT: String(port),
    EDGETILL_HOME: home,
    EDGETILL_NAME: "corner-shop",
    RATE_LIMIT_PER_MINUTE: "0",
    CHAIN_SOURCES: JSON.stringify(sources),
    WEBHOOK_SCHEDULE_SECONDS: webhookSchedule,
    SIGN_IN_PROVIDERS: JSON.stringify(signInProviders),
    TURNSTILE_SITE_KEY: turnstile?.siteKey,
    TURNSTILE_SECRET_KEY: turnstile?.secretKey,
    TURNSTILE_ORIGIN: turnstile?.origin,
    ...(pollSeconds === undefined ? {} : { POLL_SECONDS: String(pollSeconds) }),
  });
}

/** The API of a running server, for one of its merchants. */
export function shopApi(baseUrl: string, merchantId: string, key: string): Omit<Shop, "logFile" | "restart" | "stop"> {
  const raw: Shop["raw"] = async (method, path, body, headers = {}) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { "x-api-key": key, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    });
    const text = await response.text();
    return { status: response.status, text, body: parsed(text) };
  };
  async function call<T>(method: string, rest: string, body?: unknown): Promise<T> {
    const answer = await raw(method, `/api/v1/merchants/merchant/${merchantId}${rest}`, body);
    if (answer.status >= 300) throw new Error(`${method} ${rest}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return answer.body as T;
  }
  return {
    baseUrl,
    merchantId,
    raw,
    call,
    registerWallet: (fields) => call("POST", "/wallets", fields),
    createInvoice: (fields) => call("POST", "/invoices", { name: "Order", rawAmount: 10, ...fields }),
    invoice: (id) => call("GET", `/invoices/${id}`),
    activate: (invoiceId, pair) => call("POST", `/invoices/${invoiceId}/payment-methods`, pair),
    cancelInvoice: (id) => call("POST", `/invoices/${id}/cancel`),
    resolveInvoice: (id, action, reason = "seen to") => call("POST", `/invoices/${id}/resolve`, { action, reason }),
    payments: async (query = "") => (await call<{ data: readonly Payment[] }>("GET", `/payments?${query}`)).data,
    payment: (id) => call("GET", `/payments/${id}`),
    resolvePayment: (id, resolution) => call("POST", `/payments/${id}/resolve`, resolution),
    changeSettings: async (changes) => void (await call("PATCH", "/settings", changes)),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
