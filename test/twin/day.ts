// A day of the shops of a deployment, recorded in a book: invoices that are paid, cancelled or left alone, and webhooks to good, slow and failing
// receivers. At the end the deployment is compared with the book. Every invoice must have the status that its history requires, and every event must
// be accepted, without duplicates.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { EvmChain } from "../../scripts/demo-story/evm-chain.ts";
import { parseUnits } from "../../src/lib/money.ts";
import { differencesOf, eventsMissing, type Fate, fateOf, type Shop } from "./book.ts";
import { Client } from "./client.ts";
import { openDeadEndpoints } from "./dead-endpoints.ts";
import { type EndpointTally, type LoggedEndpoint, logDifferences, loggedEndpoint, tallyOf } from "./delivery-log.ts";
import type { Twin } from "./deployment.ts";
import { jsonIn } from "./json.ts";
import type { Measured } from "./measured.ts";
import { KEY_PERMISSIONS, openShop, PAID_IN, TOKEN } from "./open-shop.ts";
import { changeKey, lookAround } from "./people.ts";
import { pulseOf } from "./pulse.ts";

export interface DayOptions {
  readonly shops: number;
  /** Creates per second over all shops, no matter how long each create takes. */
  readonly rate: number;
  /** No create starts while this many are unanswered, so that a slow machine gets fewer creates instead of ever more retries. Default: no limit. */
  readonly mostOpen?: number;
  /** Additional clients that create, wait for the answer, and create again. */
  readonly clients?: number;
  readonly seconds: number;
  /** Shares of all invoices. */
  readonly paid: number;
  readonly cancelled: number;
  /** Invoices that nobody pays before they expire. */
  readonly expired: number;
  /** Lifetime of those invoices in seconds; by default 60, the shortest allowed. */
  readonly lifeSeconds?: number;
  /** The time after the last create for payments to be seen and events to be delivered. */
  readonly settleMs: number;
  /** Whether shops have an endpoint for every event; default true. */
  readonly isWatched?: boolean;
  /** Whether there are also endpoints that hang, refuse or are gone. If so, the delivery logs of all endpoints are compared. Default: false. */
  readonly hasDeadEndpoints?: boolean;
  /** Whether members use the console and change the server's key; defaults to `isWatched`. */
  readonly hasPeople?: boolean;
  readonly random: () => number;
  readonly onProgress?: (line: string) => void;
}

export interface Findings {
  readonly wrong: readonly string[];
  /** How long invoices were created: at least the planned length of the day, and until the parallel work ended. */
  readonly seconds: number;
  readonly created: number;
  readonly paid: number;
  readonly events: number;
  /** The deliveries to each endpoint whose delivery log was compared. */
  readonly endpoints: readonly EndpointTally[];
  readonly routes: ReadonlyMap<string, Measured>;
}

/** The shortest lifetime of an invoice; the pause after a create that will never succeed; and the pause before members act. */
const [LIFE_SECONDS, GIVEN_UP_MS, PEOPLE_PAUSE_MS] = [60, 1_000, 2_000];
/** How many times a payer opens a page at most if it answers with an error. */
const MOST_PAGES = 20;

const INVOICE = z.object({
  id: z.string(),
  status: z.string(),
  paymentMethods: z.array(
    z.object({
      cryptocurrency: z.string(),
      address: z.string().nullable(),
      amount: z.string().nullable(),
    }),
  ),
});
type Made = z.infer<typeof INVOICE>;

export class Day {
  readonly #twin: Twin;
  readonly #chain: EvmChain;
  readonly #options: DayOptions;
  readonly #shops: Shop[] = [];
  /** Endpoints whose delivery log is compared at the end. */
  readonly #logged: LoggedEndpoint[] = [];
  readonly #client: Client;
  readonly #wrong: string[] = [];
  #seconds = 0;
  readonly #payments: Promise<unknown>[] = [];
  /** Creates in progress, and invoices that wait to be paid or to end. */
  readonly #following = new Set<Promise<unknown>>();
  #session: Readonly<Record<string, string>> | undefined;
  #sending: Promise<unknown> = Promise.resolve();

  constructor(twin: Twin, chain: EvmChain, options: DayOptions) {
    this.#twin = twin;
    this.#chain = chain;
    this.#options = options;
    this.#client = new Client(twin.ask, options.random);
  }

  get shops(): readonly Shop[] {
    return this.#shops;
  }

  /** `session`: the headers of a user who may create merchants. */
  async open(session: Readonly<Record<string, string>>): Promise<void> {
    this.#session = session;
    const opening = { client: this.#client, world: this.#twin.world, session };
    const { shops, isWatched = true, hasDeadEndpoints = false } = this.#options;
    for (let nth = 0; nth < shops; nth++) {
      const shop = await openShop(opening, { nth, isWatched });
      this.#shops.push(shop);
      if (!hasDeadEndpoints) continue;
      for (const receiver of [shop.receiver, ...(await openDeadEndpoints(opening, { shop, nth, shops }))])
        this.#logged.push(await loggedEndpoint(this.#twin.ask, shop, receiver));
    }
  }

  /** Runs the whole day. `during` runs in parallel, and the shops sell until it ends. */
  async play(during: () => Promise<void> = async () => {}): Promise<void> {
    const { rate, clients = 0, seconds, onProgress } = this.#options;
    const beganMs = Date.now();
    const endMs = beganMs + seconds * 1_000;
    let isLast = false;
    const end = () => {
      isLast = true;
    };
    const isOver = () => isLast && Date.now() >= endMs;
    const beside = during();
    void beside.then(end, end);
    const leftS = () => Math.max(0, Math.round((endMs - Date.now()) / 1_000));
    const pulse = pulseOf({ routes: this.routes, gate: this.#twin.gate });
    const saying = setInterval(() => onProgress?.(`${this.created} invoices, ${leftS()} s to go: ${pulse()}`), 10_000);
    const people = this.#people(isOver).catch((error: unknown) => void this.#wrong.push(`people: ${error}`));
    const loops = Array.from({ length: clients }, () => this.#createAgainAndAgain(isOver));
    if (rate > 0) loops.push(this.#createAt(rate, isOver));
    await Promise.all(loops);
    this.#seconds = (Date.now() - beganMs) / 1_000;
    clearInterval(saying);
    await people;
    await Promise.all(this.#following);
    await Promise.all(this.#payments);
    await beside;
  }

  /** Gives each shop's server a new key, one shop after another, while members view the shops. */
  async #people(isOver: () => boolean): Promise<void> {
    const session = this.#session;
    const { isWatched = true, hasPeople = isWatched } = this.#options;
    if (session === undefined || !hasPeople) return;
    const keys = (async () => {
      for (const shop of this.#shops) {
        await sleep(PEOPLE_PAUSE_MS);
        await changeKey(this.#client, shop, session, KEY_PERMISSIONS);
      }
    })();
    // Awaited at the end of the day.
    void keys.catch(() => undefined);
    for (let nth = 0; !isOver(); nth++) {
      await sleep(PEOPLE_PAUSE_MS);
      const shop = this.#shops[nth % this.#shops.length];
      if (shop !== undefined) await lookAround(this.#client, shop, session);
    }
    await keys;
  }

  async #createAt(rate: number, isOver: () => boolean): Promise<void> {
    const { random, mostOpen = Number.POSITIVE_INFINITY } = this.#options;
    let open = 0;
    while (!isOver()) {
      if (open < mostOpen) {
        open += 1;
        void this.#order().finally(() => {
          open -= 1;
        });
      }
      await sleep((1_000 / rate) * 2 * random());
    }
  }

  /** Waits for the answer to a create, not for the invoice to end. */
  async #createAgainAndAgain(isOver: () => boolean): Promise<void> {
    while (!isOver()) if (!(await this.#order())) await sleep(GIVEN_UP_MS);
  }

  /** Compares the deployment with the book, once everything in progress has had time to finish. */
  async close(): Promise<Findings> {
    const lateMs = Date.now() + this.#options.settleMs;
    // Events are checked before invoices are read, because a read would settle an invoice that a job must settle.
    while (this.#untold().length > 0 && Date.now() < lateMs) await sleep(1_000);
    this.#wrong.push(...this.#untold());
    let wrong = await this.#differences();
    while (wrong.length > 0 && Date.now() < lateMs) {
      await sleep(1_000);
      wrong = await this.#differences();
    }
    const events = this.#shops.reduce((sum, { receiver }) => sum + receiver.accepted.size, 0);
    const paid = this.#shops.flatMap(({ book }) => book).filter(({ fate }) => fate === "PAID").length;
    const endpoints = await Promise.all(this.#logged.map((each) => tallyOf(this.#twin.ask, each)));
    return {
      wrong: [...new Set([...this.#wrong, ...wrong])],
      endpoints,
      seconds: this.#seconds,
      created: this.created,
      paid,
      events,
      routes: this.routes,
    };
  }

  get routes(): ReadonlyMap<string, Measured> {
    return this.#client.routes;
  }

  get created(): number {
    return this.#shops.reduce((sum, { book }) => sum + book.length, 0);
  }

  /** Creates this many invoices of one shop at once, which nobody pays. */
  async rush(invoices: number): Promise<void> {
    const [shop] = this.#shops;
    if (shop === undefined) throw new Error("no shop is open");
    await Promise.all(Array.from({ length: invoices }, () => this.#create(shop, "AWAITING_PAYMENT")));
  }

  /**
   * Creates an invoice of a random shop; returns whether that succeeded. It waits only for the answer. The payment or cancellation follows in the
   * background.
   */
  async #order(): Promise<boolean> {
    const shop = this.#shops[Math.floor(this.#options.random() * this.#shops.length)];
    if (shop === undefined) throw new Error("no shop is open");
    const fate = fateOf(this.#options.random(), this.#options);
    const creating = this.#create(shop, fate);
    const following = creating
      .then((invoice) => this.#follow(shop, invoice, fate))
      .catch((error: unknown) => void this.#wrong.push(String(error)));
    this.#following.add(following);
    void following.then(() => this.#following.delete(following));
    return creating.then(
      () => true,
      () => false,
    );
  }

  async #create({ merchantId, headers, book }: Shop, fate: Fate): Promise<Made> {
    const externalId = randomBytes(8).toString("hex");
    const body = {
      name: "Order",
      rawAmount: 5 + Math.floor(this.#options.random() * 900) / 10,
      externalId,
      ...(fate === "EXPIRED" ? { expiresInSeconds: this.#options.lifeSeconds ?? LIFE_SECONDS } : {}),
    };
    const root = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    const keyed = { ...headers, "idempotency-key": externalId };
    const invoice = jsonIn(INVOICE, (await this.#good("POST /invoices", root, "POST", keyed, body)).text);
    book.push({ id: invoice.id, fate });
    return invoice;
  }

  async #follow({ merchantId, headers }: Shop, invoice: Made, fate: Fate): Promise<void> {
    const path = `/api/v1/merchants/merchant/${merchantId}/invoices/${invoice.id}`;
    if (fate === "CANCELLED") await this.#cancel(path, headers);
    if (fate === "PAID") {
      const shown = await this.#shown(path, invoice, headers);
      this.#payments.push(this.#pay(shown).catch((error) => void this.#wrong.push(String(error))));
    }
    if (fate === "AWAITING_PAYMENT" && (this.#options.isWatched ?? true))
      await this.#good("GET /invoices/:id", path, "GET", headers);
  }

  /** A cancel whose answer was lost is refused when retried, because the invoice is cancelled. */
  async #cancel(invoice: string, headers: Shop["headers"]): Promise<void> {
    await this.#good("POST /cancel", `${invoice}/cancel`, "POST", headers).catch(async (error: unknown) => {
      const { text } = await this.#good("GET /invoices/:id", invoice, "GET", headers);
      const isCancelled = jsonIn(INVOICE, text).status === "CANCELLED";
      if (!isCancelled || !String(error).includes("INVOICE_NOT_CANCELLABLE")) throw error;
    });
  }

  /** The address and amount for the payer. An invoice without an amount gets one when its page is opened. */
  async #shown(path: string, invoice: Made, headers: Shop["headers"]): Promise<Shown> {
    let { paymentMethods: methods } = invoice;
    for (let page = 0; page < MOST_PAGES; page++) {
      const { address = null, amount = null } = methods.find(({ cryptocurrency }) => cryptocurrency === PAID_IN) ?? {};
      if (address !== null && amount !== null) return { address, amount };
      if (page > 0) await sleep(GIVEN_UP_MS);
      await this.#client.once({ route: "GET /pay/:id", path: `/pay/${invoice.id}`, method: "GET", headers: {} });
      const { text } = await this.#good("GET /invoices/:id", path, "GET", headers);
      methods = jsonIn(INVOICE, text).paymentMethods;
    }
    throw new Error(`${invoice.id} shows no payment`);
  }

  async #pay({ address, amount }: Shown): Promise<void> {
    const units = parseUnits(amount, TOKEN.decimals);
    if (!units.ok) throw new Error(`${amount} is no amount`);
    const payment = { contract: TOKEN.contract, to: address, units: units.value };
    // Payments are sent one after another, because the chain has few customers, and two concurrent transactions of one customer may replace each
    // other.
    this.#sending = this.#sending.then(() => this.#chain.sendToken(payment));
    await this.#sending;
  }

  #good(route: string, path: string, method: string, headers: Readonly<Record<string, string>>, body?: unknown) {
    return this.#client.good({ route, path, method, headers, ...(body === undefined ? {} : { body }) });
  }

  async #differences(): Promise<readonly string[]> {
    const wrong: string[] = [];
    for (const shop of this.#shops) wrong.push(...(await differencesOf(this.#twin.ask, shop)));
    for (const each of this.#logged) wrong.push(...(await logDifferences(this.#twin.ask, each)));
    return [...wrong, ...this.#untold()];
  }

  #untold(): readonly string[] {
    return this.#shops.flatMap(({ book, receiver }) => eventsMissing(book, receiver));
  }
}

interface Shown {
  readonly address: string;
  readonly amount: string;
}
