// An in-memory fake of the API, for the tests of a shop: the client calls it instead of a server, and a test is the customer who pays.
import type { Payment, Wallet } from "./api-types.ts";
import type { EdgetillOptions } from "./calls.ts";
import type { WebhookEvent } from "./events.ts";
import { FakeDoor } from "./testing/door.ts";
import type { Delivered, Transfer } from "./testing/hand.ts";
import { invoiceOf } from "./testing/invoices.ts";
import { pairNamed } from "./testing/pairs.ts";
import { confirm, pay, payUnmatched } from "./testing/payments.ts";
import { answer } from "./testing/refusal.ts";
import { makeReturns } from "./testing/returns.ts";
import { type FakeState, idMaker, timeOf } from "./testing/state.ts";
import { deliver } from "./testing/webhooks.ts";

export type { Delivered, Transfer } from "./testing/hand.ts";

/** A wallet that the merchant has from the start. */
export interface FakeWalletOptions {
  /** A code that the service supports, such as `USDT`. */
  readonly cryptocurrency: string;
  /** Such as `ETH`. */
  readonly network: string;
  /** Unless given, one that belongs to nobody. */
  readonly address?: string | undefined;
  /** 1 unless given. */
  readonly requiredConfirmations?: number | undefined;
}

/** Of a new fake. */
export interface FakeOptions {
  /** One for each pair; USDT on ETH unless given. All are direct wallets: invoices share the address and are told apart by their amounts. */
  readonly wallets?: readonly FakeWalletOptions[] | undefined;
  /** When it begins, in milliseconds since 1970; now unless given. From then on its clock runs, and `advance` moves it. */
  readonly nowMs?: number | undefined;
}

/** How the next requests fail. `CONNECTION`: no answer comes. `LOST_ANSWER`: the request is carried out, and its answer is lost. */
export type Failing = "CONNECTION" | "LOST_ANSWER" | "RATE_LIMITED" | "STORAGE_UNAVAILABLE" | "INTERNAL_ERROR";

const STATUS = { RATE_LIMITED: 429, STORAGE_UNAVAILABLE: 503, INTERNAL_ERROR: 500 } as const;

/**
 * One merchant of one service, in memory. It answers as the API does, with the same bodies, codes, paging, idempotency, events and signatures, at
 * the fixed prices of development: one test suite is run against both. What it does not do is refused with 501 and the code `NOT_IN_FAKE`, or
 * throws an Error that says so.
 */
export class FakeEdgetill {
  /** For `new Edgetill(fake.options)`. Add `backoff` to make retries quick. */
  readonly options: EdgetillOptions;
  /** For `new EdgetillPublic(fake.publicOptions)`. */
  readonly publicOptions: EdgetillOptions;
  /** In place of the runtime's own, for the client and for `verifyReturn`. */
  readonly fetch: typeof fetch;
  readonly #state: FakeState;
  readonly #failing: Failing[] = [];
  readonly #returns = makeReturns();
  #aheadMs: number;
  /** The time of the request or the hand's work that is being done: one for all that it does. */
  #nowMs: number;

  constructor({ wallets = [{ cryptocurrency: "USDT", network: "ETH" }], nowMs = Date.now() }: FakeOptions = {}) {
    this.#aheadMs = nowMs - Date.now();
    this.#nowMs = nowMs;
    const now = () => this.#nowMs;
    const newId = idMaker(now);
    const merchantId = newId("mer");
    const origin = "https://pay.example.com";
    const rows = { invoices: new Map(), payments: new Map(), products: new Map(), customers: new Map() };
    const owed = { webhooks: new Map(), events: [], deliveries: [] };
    const state: FakeState = { merchantId, origin, ...rows, ...owed, wallets: [], now, newId };
    this.#state = { ...state, wallets: wallets.map((wallet) => newWallet(state, wallet)) };
    const keys = { secretKey: "sk_fake_0000000000000000", publicKey: "pk_fake_0000000000000000", keyId: newId("key") };
    const door = new FakeDoor(this.#state, keys);
    this.fetch = async (input, init) => this.#answer(door, new Request(input, init));
    const at = { baseUrl: origin, merchantId, fetch: this.fetch };
    this.options = { ...at, apiKey: keys.secretKey };
    this.publicOptions = { ...at, apiKey: keys.publicKey };
  }

  /** A customer pays an invoice, in full unless an amount is given. Throws where the fake has no such payment, such as one that comes too late. */
  pay(invoiceId: string, transfer: Transfer = {}): Payment {
    this.#tick();
    return copyOf(pay(this.#state, invoiceId, transfer).body);
  }

  /** A transfer that no invoice asked for: it waits to be resolved by hand. Names its pair and its amount. */
  payUnmatched(transfer: Transfer): Payment {
    this.#tick();
    return copyOf(payUnmatched(this.#state, transfer).body);
  }

  /** Of a payment that was made with `isConfirmed: false`: the chain confirms it. */
  confirm(paymentId: string): Payment {
    this.#tick();
    return copyOf(confirm(this.#state, paymentId).body);
  }

  /** Moves the clock on. What expires by it is seen, as of the service, when it is read. */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new TypeError("the clock goes on, never back");
    this.#aheadMs += ms;
    this.#tick();
    for (const id of this.#state.invoices.keys()) invoiceOf(this.#state, id);
  }

  /** The next requests fail, whatever they are. */
  failNext(how: Failing, times = 1): void {
    for (let time = 0; time < times; time += 1) this.#failing.push(how);
  }

  /** Every event that happened, oldest first. */
  get events(): readonly WebhookEvent[] {
    return copyOf(this.#state.events);
  }

  /**
   * Hands every delivery that is owed to your handler, one after the other, signed as the service signs them. What it does not answer with 2xx
   * comes again with the next call, under the same event id.
   */
  deliver(handler: (request: Request) => Response | Promise<Response>): Promise<readonly Delivered[]> {
    this.#tick();
    return deliver(this.#state, handler);
  }

  /** The address at which the customer of a paid invoice comes back to your shop. Throws for one that is not paid or has no `redirectUrl`. */
  returnUrl(invoiceId: string): Promise<string> {
    this.#tick();
    return this.#returns.sign(invoiceOf(this.#state, invoiceId).body, timeOf(this.#state));
  }

  #tick(): void {
    this.#nowMs = Math.max(this.#nowMs, Date.now() + this.#aheadMs);
  }

  async #answer(door: FakeDoor, request: Request): Promise<Response> {
    request.signal.throwIfAborted();
    this.#tick();
    const how = this.#failing.shift();
    if (how === "CONNECTION") throw new TypeError("the fake was told to lose the connection");
    if (how === "LOST_ANSWER") {
      await door.answer(request);
      throw new TypeError("the fake was told to lose the answer");
    }
    if (how !== undefined) return failure(how, this.#state.newId("req"));
    if (new URL(request.url).pathname === "/.well-known/edgetill-keys.json")
      return answer(200, await this.#returns.keys(), this.#state.newId("req"));
    return door.answer(request);
  }
}

function failure(code: keyof typeof STATUS, requestId: string): Response {
  const status = STATUS[code];
  const body = { statusCode: status, message: `the fake was told to answer ${code}`, error: "Error", code, requestId };
  return answer(status, body, requestId, status === 500 ? {} : { "retry-after": "0" });
}

function newWallet(state: FakeState, options: FakeWalletOptions): Wallet {
  const { requiredConfirmations = 1, address } = options;
  const pair = pairNamed(options);
  if (pair === undefined) throw new TypeError(`no pair ${options.cryptocurrency} on ${options.network}`);
  const { cryptocurrency, network, family } = pair;
  const warnings = requiredConfirmations < pair.recommendedConfirmations ? ["LOW_CONFIRMATIONS"] : [];
  const at = timeOf(state);
  const nobodys = family === "evm" ? `0x${"0".repeat(39)}1` : `fake-${network.toLowerCase()}-address`;
  return {
    id: state.newId("wal"),
    merchantId: state.merchantId,
    walletType: "DIRECT_WALLET",
    cryptocurrency,
    network,
    address: address ?? nobodys,
    xpub: null,
    derivationPath: null,
    requiredConfirmations,
    isEnabled: true,
    lastUsedIndex: null,
    nextIndex: null,
    gap: null,
    scheme: null,
    warnings,
    usableFrom: null,
    createdAt: at,
    updatedAt: at,
  };
}

/** What a caller changes is the caller's own. */
function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
