// The service as its users see it: an address, a key and JSON over HTTP, independent of how the server is built.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { expect, inject } from "vitest";
import type { Edgetill } from "./serve.ts";
import type { Invoice, Page, Refusal, Wallet } from "./shapes.ts";

export const service = await ownServer();

/** The server of the test worker that runs this file. No other file uses it at the same time. */
async function ownServer(): Promise<Edgetill> {
  const answer = await fetch(`${inject("servers")}/${process.env.VITEST_POOL_ID}`);
  if (!answer.ok) throw new Error(`no server for worker ${process.env.VITEST_POOL_ID}: ${await answer.text()}`);
  return JSON.parse(await answer.text());
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body parsed as JSON; undefined if it is not JSON. The caller asserts its type, which is not checked. */
  readonly body: T;
}

interface Call {
  readonly method?: string;
  /** The value of x-api-key; null sends none. */
  readonly key?: string | null;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, for texts that no serializer would write. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** How often a request is repeated if a machine that is busy with other tests answers with 503. */
const MOST_REPEATS = 5;

/**
 * Sends requests as the interface asks clients to: a request that gets a 503 is resent after `retry-after` seconds, byte for byte. A POST without
 * an idempotency key is not resent, because its outcome is unknown.
 */
async function patientCall<T>(path: string, options: Call): Promise<Answer<T>> {
  const mayRepeat = options.method !== "POST" || options.headers?.["idempotency-key"] !== undefined;
  for (let repeats = 0; ; repeats++) {
    const answer = await call<T>(path, options);
    if (answer.status !== 503 || !mayRepeat || repeats === MOST_REPEATS) return answer;
    await delay(1_000 * Number(answer.headers.get("retry-after") ?? 1));
  }
}

/** One request to an absolute path of the service. A body gets `content-type: application/json` unless the headers say otherwise. */
export async function call<T = Refusal>(path: string, options: Call = {}): Promise<Answer<T>> {
  const headers = new Headers();
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  if (body !== undefined) headers.set("content-type", "application/json");
  if (typeof options.key === "string") headers.set("x-api-key", options.key);
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
  const response = await fetch(service.baseUrl + path, {
    method: options.method ?? "GET",
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: new Headers([...response.headers]), text, body: parsed(text) as T };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function merchantPath(merchantId: string, rest = ""): string {
  return `/api/v1/merchants/merchant/${merchantId}${rest}`;
}

/** Calls with a key below one merchant's path. `rest` begins with a slash: `/invoices`. */
export interface Api {
  readonly merchantId: string;
  readonly key: string;
  get<T>(rest: string): Promise<Answer<T>>;
  post<T>(rest: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
  patch<T>(rest: string, body: unknown): Promise<Answer<T>>;
  delete<T>(rest: string): Promise<Answer<T>>;
  /** Sends a JSON text unchanged with POST. */
  postRaw<T>(rest: string, raw: string | Uint8Array, headers?: Record<string, string>): Promise<Answer<T>>;
}

export function apiOf(merchantId: string, key: string): Api {
  const at = (rest: string) => merchantPath(merchantId, rest);
  return {
    merchantId,
    key,
    get: (rest) => patientCall(at(rest), { key }),
    post: (rest, body, headers = {}) => patientCall(at(rest), { method: "POST", key, body, headers }),
    patch: (rest, body) => patientCall(at(rest), { method: "PATCH", key, body }),
    delete: (rest) => patientCall(at(rest), { method: "DELETE", key }),
    postRaw: (rest, raw, headers = {}) => patientCall(at(rest), { method: "POST", key, raw, headers }),
  };
}

/** API clients: a merchant's server (secret key) and browser (public key), and the server of a second merchant. */
export const shop = apiOf(service.merchantId, service.secretKey);
export const browser = apiOf(service.merchantId, service.publicKey);
export const stranger = apiOf(service.other.merchantId, service.other.secretKey);

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Payload Too Large|Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Entity|Unprocessable Content",
  429: "Too Many Requests",
  503: "Service Unavailable",
};

/**
 * Checks that an answer is a refusal in the service's error envelope (Interface 7, decisions 1): its members, their order, the name of the status,
 * and the request id, which the header repeats. `code` is checked if it is given.
 */
export function expectRefusal(answer: Answer<unknown>, status: number, code?: string | readonly string[]): Refusal {
  const shown = `${answer.status} ${answer.text.slice(0, 500)}`;
  expect(answer.status, shown).toBe(status);
  expect(answer.headers.get("content-type"), shown).toMatch(/^application\/json\b/);
  const refusal = answer.body as Refusal;
  const fields = Object.keys(refusal);
  expect(fields.slice(0, 5), shown).toEqual(["statusCode", "message", "error", "code", "requestId"]);
  for (const [name, fact] of Object.entries(refusal).slice(5)) {
    // Each additional member is a string, such as the conflicting wallet, or a list of at most ten strings, such as the blocking invoices.
    if (name === "details") continue;
    const texts = Array.isArray(fact) ? fact.slice(0, 10) : [fact];
    expect([name, fact].flat(), shown).toEqual([
      expect.stringMatching(/^[a-z]\w+$/),
      ...texts.map(() => expect.any(String)),
    ]);
  }
  expect(refusal.statusCode, shown).toBe(status);
  expect(refusal.message, shown).toMatch(/\S/);
  expect(STATUS_NAMES[status]?.split("|"), shown).toContain(refusal.error);
  expect(refusal.code, shown).toMatch(/^[A-Z][A-Z0-9_]*$/);
  expect(refusal.requestId, shown).toBe(answer.headers.get("x-request-id"));
  for (const detail of refusal.details ?? []) {
    expect(detail, shown).toEqual({ path: expect.any(String), message: expect.stringMatching(/\S/) });
  }
  if (typeof code === "string") expect(refusal.code, shown).toBe(code);
  if (Array.isArray(code)) expect(code, shown).toContain(refusal.code);
  return refusal;
}

/** The body of an answer that must have this status. */
export function expectOk<T>(answer: Answer<T>, status: number): T {
  expect(answer.status, `${answer.status} ${answer.text.slice(0, 500)}`).toBe(status);
  expect(answer.headers.get("content-type")).toMatch(/^application\/json\b/);
  return answer.body;
}

export async function createInvoice(api: Api, fields: Record<string, unknown> = {}): Promise<Invoice> {
  return expectOk(await api.post<Invoice>("/invoices", { name: "Order", rawAmount: 10, ...fields }), 201);
}

export async function registerWallet(api: Api, fields: Record<string, unknown>): Promise<Wallet> {
  return expectOk(await api.post<Wallet>("/wallets", fields), 201);
}

/** A value that no other test uses, because all files share names, external ids, mailboxes and idempotency keys. */
export function unique(prefix = "t"): string {
  return `${prefix}-${randomUUID()}`;
}

/** Sends `count` requests at once. */
export function atOnce<T>(count: number, send: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => send(index)));
}

const CANCEL_TRIES = 10;

/** Cancels with retries: on a busy machine, some of a hundred simultaneous cancellations get a 503 with Retry-After. */
async function cancelPatiently(api: Api, { id }: Invoice): Promise<void> {
  for (let tries = 1; tries < CANCEL_TRIES && (await api.post(`/invoices/${id}/cancel`)).status === 503; tries++)
    await new Promise((go) => setTimeout(go, 1_000));
}

/**
 * Removes every wallet of a merchant, after cancelling what still uses one: a merchant has one wallet per pair, so each test starts without any. No
 * other file uses the same server at the same time.
 */
export async function removeWallets(api: Api): Promise<void> {
  const isRemoved = async (wallet: Wallet) => (await api.delete(`/wallets/${wallet.id}`)).status === 200;
  const left: Wallet[] = [];
  for (const wallet of expectOk(await api.get<Wallet[]>("/wallets"), 200)) {
    if (!(await isRemoved(wallet))) left.push(wallet);
  }
  if (left.length === 0) return;
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page<Invoice> = expectOk(await api.get(`/invoices?status=AWAITING_PAYMENT&limit=100${query}`), 200);
    cursor = page.nextCursor;
    const holding = page.data.filter((invoice) => invoice.paymentMethods.some((each) => each.status === "ACTIVE"));
    await Promise.all(holding.map((invoice) => cancelPatiently(api, invoice)));
  } while (cursor !== null);
  for (const wallet of left)
    expect(await isRemoved(wallet), `${wallet.cryptocurrency} on ${wallet.network}`).toBe(true);
}
