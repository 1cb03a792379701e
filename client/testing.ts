// An in-memory fake of the API, for a shop's tests: the client calls it instead of a server, and the test acts as the customer who pays.

import type { Payment as PaymentRow } from "../src/commerce/payments/payment.ts";
import { paymentBodyOf } from "../src/commerce/payments/payment-body.ts";
import type { Payment } from "./api-types.ts";
import type { EdgetillOptions } from "./calls.ts";
import type { WebhookEvent } from "./events.ts";
import { currentFile } from "./testing/changes.ts";
import { textOf } from "./testing/events.ts";
import type { Delivered, Transfer } from "./testing/hand.ts";
import { confirm, pay, payUnmatched } from "./testing/payments.ts";
import { makeReturns } from "./testing/returns.ts";
import { answer, FakeRouter } from "./testing/router.ts";
import { type FakeState, idMaker, newMerchant } from "./testing/state.ts";
import { newWallet, pairNamed } from "./testing/wallets.ts";
import { deliver } from "./testing/webhooks.ts";

export type { Delivered, Transfer } from "./testing/hand.ts";

/** A wallet that the merchant has from the start. */
interface FakeWalletOptions {
  /** A code that the service supports, such as `USDT`. */
  readonly cryptocurrency: string;
  /** Such as `ETH`. */
  readonly network: string;
  /** By default an address that no one owns. */
  readonly address?: string | undefined;
  /** 1 by default. */
  readonly requiredConfirmations?: number | undefined;
}

/** Options of a new fake. */
interface FakeOptions {
  /** One per pair; USDT on ETH by default. All are direct wallets: invoices share the address and are distinguished by their amounts. */
  readonly wallets?: readonly FakeWalletOptions[] | undefined;
  /** The start time of the fake's clock, in milliseconds since 1970; now by default. The clock runs from then on, and `advance` moves it. */
  readonly nowMs?: number | undefined;
}

/** How the next requests fail. `CONNECTION`: there is no answer. `LOST_ANSWER`: the request is carried out, but its answer is lost. */
type Failing = "CONNECTION" | "LOST_ANSWER" | "RATE_LIMITED" | "STORAGE_UNAVAILABLE" | "INTERNAL_ERROR";

/** The key for the HMACs of rows. Only the fake has rows signed with it. */
const MAC_KEYS: FakeState["macKeys"] = [{ id: "fake", secret: new Uint8Array(32) }];

const STATUS = { RATE_LIMITED: 429, STORAGE_UNAVAILABLE: 503, INTERNAL_ERROR: 500 } as const;

/**
 * One merchant of one service, in memory. It answers as the API does, with the same bodies, codes, paging, idempotency, events and signatures, at
 * the fixed prices used in development: the same tests run against the fake and the service. Anything it does not support is refused with 501 and
 * the code `NOT_IN_FAKE`, or throws an Error that says so.
 */
export class FakeEdgetill {
  /** For `new Edgetill(fake.options)`. Add `backoff` to make retries quick. */
  readonly options: EdgetillOptions;
  /** For `new EdgetillPublic(fake.publicOptions)`. */
  readonly publicOptions: EdgetillOptions;
  /** Replaces the runtime's own `fetch`, for the client and for `verifyReturn`. */
  readonly fetch: typeof fetch;
  readonly #state: FakeState;
  readonly #failing: Failing[] = [];
  readonly #returns = makeReturns();
  #aheadMs: number;
  /** The time of the current request or test action; the same for everything it does. */
  #nowMs: number;

  constructor({ wallets = [{ cryptocurrency: "USDT", network: "ETH" }], nowMs = Date.now() }: FakeOptions = {}) {
    this.#aheadMs = nowMs - Date.now();
    this.#nowMs = nowMs;
    const now = () => this.#nowMs;
    const newId = idMaker(now);
    const merchant = newMerchant(newId("mer"), nowMs);
    const origin = "https://pay.example.com";
    const rows = { invoices: new Map(), payments: new Map(), products: new Map(), customers: new Map() };
    const others = { evidence: new Map(), amounts: [], webhooks: new Map(), events: [], deliveries: [] };
    const state: FakeState = { merchant, origin, macKeys: MAC_KEYS, ...rows, ...others, wallets: [], now, newId };
    this.#state = { ...state, wallets: wallets.map((wallet) => walletOf(state, wallet)) };
    const keys = { secretKey: "sk_fake_0000000000000000", publicKey: "pk_fake_0000000000000000", keyId: newId("key") };
    const router = new FakeRouter(this.#state, keys);
    this.fetch = async (input, init) => this.#answer(router, new Request(input, init));
    const at = { baseUrl: origin, merchantId: merchant.id, fetch: this.fetch };
    this.options = { ...at, apiKey: keys.secretKey };
    this.publicOptions = { ...at, apiKey: keys.publicKey };
  }

  /** A customer pays an invoice, in full unless an amount is given. Throws if the fake does not support the payment, such as a late one. */
  pay(invoiceId: string, transfer: Transfer = {}): Payment {
    this.#tick();
    return shown(pay(this.#state, invoiceId, transfer));
  }

  /** A transfer that matches no invoice, and waits to be resolved by hand. It must name its pair and amount. */
  payUnmatched(transfer: Transfer): Payment {
    this.#tick();
    return shown(payUnmatched(this.#state, transfer));
  }

  /** Confirms a payment that was made with `isConfirmed: false`. */
  confirm(paymentId: string): Payment {
    this.#tick();
    return shown(confirm(this.#state, paymentId));
  }

  /** Advances the clock, and applies the expiries and new quotes that are then due to all invoices. */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new TypeError("the clock moves forward, never back");
    this.#aheadMs += ms;
    this.#tick();
    for (const id of this.#state.invoices.keys()) currentFile(this.#state, id);
  }

  /** Makes the next requests fail, no matter what they ask for. */
  failNext(how: Failing, times = 1): void {
    for (let time = 0; time < times; time += 1) this.#failing.push(how);
  }

  /** Every event that happened, oldest first. */
  get events(): readonly WebhookEvent[] {
    return this.#state.events.map((event) => JSON.parse(textOf(event)));
  }

  /**
   * Passes every pending delivery to your handler, one after another, signed like the service's. A delivery not answered with 2xx is repeated by the
   * next call, with the same event id.
   */
  deliver(handler: (request: Request) => Response | Promise<Response>): Promise<readonly Delivered[]> {
    this.#tick();
    return deliver(this.#state, handler);
  }

  /** The URL at which the customer of a paid invoice returns to your shop. Throws for an invoice that is not paid or has no `redirectUrl`. */
  returnUrl(invoiceId: string): Promise<string> {
    this.#tick();
    return this.#returns.sign(currentFile(this.#state, invoiceId).invoice, this.#nowMs);
  }

  #tick(): void {
    this.#nowMs = Math.max(this.#nowMs, Date.now() + this.#aheadMs);
  }

  async #answer(router: FakeRouter, request: Request): Promise<Response> {
    request.signal.throwIfAborted();
    this.#tick();
    const how = this.#failing.shift();
    if (how === "CONNECTION") throw new TypeError("the fake was told to lose the connection");
    if (how === "LOST_ANSWER") {
      await router.answer(request);
      throw new TypeError("the fake was told to lose the answer");
    }
    if (how !== undefined) return failure(how, this.#state.newId("req"));
    if (new URL(request.url).pathname === "/.well-known/edgetill-keys.json")
      return answer(200, JSON.stringify(await this.#returns.keys()), this.#state.newId("req"));
    return router.answer(request);
  }
}

function failure(code: keyof typeof STATUS, requestId: string): Response {
  const status = STATUS[code];
  const body = { statusCode: status, message: `the fake was told to answer ${code}`, error: "Error", code, requestId };
  return answer(status, JSON.stringify(body), requestId, status === 500 ? {} : { "retry-after": "0" });
}

function walletOf(state: FakeState, options: FakeWalletOptions): FakeState["wallets"][number] {
  const { requiredConfirmations = 1, address } = options;
  const pair = pairNamed(options);
  if (pair === undefined) throw new TypeError(`no pair ${options.cryptocurrency} on ${options.network}`);
  return newWallet(state, { pair, address, requiredConfirmations });
}

function shown(payment: PaymentRow): Payment {
  return paymentBodyOf(payment, []);
}
