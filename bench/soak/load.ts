// Sends requests at a steady pace, however long the answers take: a create, a GET of the invoice, and the page where it is paid, in turn.
import * as z from "zod";
import { percentile } from "../statistics.ts";

export const SHOP = z.object({ baseUrl: z.string(), merchantId: z.string(), secretKey: z.string() });
type Shop = Readonly<z.infer<typeof SHOP>>;

const KINDS = ["create", "get", "page"] as const;
type Kind = (typeof KINDS)[number];

export interface Interval {
  readonly requests: number;
  /** The number of requests that were not started, because too many others were pending. */
  readonly leftOut: number;
  /** Answers with an unexpected status, and requests without an answer. */
  readonly failures: number;
  readonly firstFailure: string | undefined;
  readonly p50Ms: Readonly<Record<Kind, number>>;
  readonly p99Ms: Readonly<Record<Kind, number>>;
}

/**
 * No further request starts while this many are pending, so that on a busy machine the load is what the server can handle, without a growing queue.
 */
const MOST_UNDER_WAY = 16;
const ANSWERS_WITHIN_MS = 30_000;
/** Invoices are for this many customers and expire after this time, because a merchant may have at most 10,000 active invoices. */
const CUSTOMERS = 1_000;
const EXPIRES_IN_SECONDS = 300;

const sorted = (latenciesMs: readonly number[]) => Float64Array.from(latenciesMs).sort();
/** 0 if there are no latencies. */
const percentileOf = (latenciesMs: Float64Array, share: number) =>
  latenciesMs.length === 0 ? 0 : percentile(latenciesMs, share);

export class SteadyLoad {
  readonly #shop: Shop;
  readonly #everyMs: number;
  readonly #latenciesMs: Record<Kind, number[]> = { create: [], get: [], page: [] };
  #leftOut = 0;
  #failures = 0;
  #firstFailure: string | undefined;
  #sent = 0;
  #underWay = 0;
  /** The last created invoice. */
  #invoiceId: string | undefined;

  constructor(shop: Shop, perSecond: number) {
    this.#shop = shop;
    this.#everyMs = 1_000 / perSecond;
  }

  async run(untilMs: number): Promise<void> {
    const startMs = performance.now();
    for (let n = 0; performance.now() < untilMs; n++) {
      const waitMs = startMs + n * this.#everyMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (this.#underWay >= MOST_UNDER_WAY) this.#leftOut += 1;
      else this.#send(KINDS[n % KINDS.length] ?? "create");
    }
  }

  /** Measurements since the last call. */
  takeInterval(): Interval {
    const { create, get, page } = this.#latenciesMs;
    const [creates, gets, pages] = [sorted(create), sorted(get), sorted(page)];
    const at = (share: number) => ({
      create: percentileOf(creates, share),
      get: percentileOf(gets, share),
      page: percentileOf(pages, share),
    });
    const interval = {
      requests: KINDS.reduce((sum, kind) => sum + this.#latenciesMs[kind].length, 0),
      leftOut: this.#leftOut,
      failures: this.#failures,
      firstFailure: this.#firstFailure,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    };
    for (const kind of KINDS) this.#latenciesMs[kind] = [];
    this.#leftOut = 0;
    this.#failures = 0;
    this.#firstFailure = undefined;
    return interval;
  }

  /** Never rejects. */
  async #send(kind: Kind): Promise<void> {
    const invoiceId = this.#invoiceId;
    if (kind !== "create" && invoiceId === undefined) return;
    const fromMs = performance.now();
    this.#underWay += 1;
    try {
      const response = await this.#ask(kind, invoiceId ?? "");
      const text = await response.text();
      this.#latenciesMs[kind].push(performance.now() - fromMs);
      if (response.status !== (kind === "create" ? 201 : 200))
        this.#fail(`${kind}: ${response.status} ${text.slice(0, 200)}`);
      else if (kind === "create") this.#invoiceId = String(JSON.parse(text).id);
    } catch (error) {
      this.#fail(`${kind}: ${error instanceof Error ? error.message : error}`);
    }
    this.#underWay -= 1;
  }

  #ask(kind: Kind, invoiceId: string): Promise<Response> {
    const { baseUrl, merchantId, secretKey } = this.#shop;
    const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
    const invoices = `${baseUrl}/api/v1/merchants/merchant/${merchantId}/invoices`;
    const key = { "x-api-key": secretKey };
    if (kind === "get") return fetch(`${invoices}/${invoiceId}`, { headers: key, signal });
    if (kind === "page") return fetch(`${baseUrl}/pay/${invoiceId}`, { signal });
    const n = this.#sent++;
    return fetch(invoices, {
      method: "POST",
      signal,
      headers: { ...key, "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
      body: JSON.stringify({
        name: `Order ${n}`,
        rawAmount: 49.9,
        customerEmail: `c${n % CUSTOMERS}@example.com`,
        expiresInSeconds: EXPIRES_IN_SECONDS,
      }),
    });
  }

  #fail(reason: string): void {
    this.#failures += 1;
    this.#firstFailure ??= reason;
  }
}
