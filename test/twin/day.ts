// What the shops of a deployment live through, and a book of it: whoever pays, cancels or does neither, webhooks to good, slow and failing receivers. At
// the end the deployment is compared with the book: every invoice as its history demands, every event accepted, nothing twice.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { EvmChain } from "../../scripts/demo-story/evm-chain.ts";
import { keyPermissionName, SECRET_KEY_PERMISSIONS } from "../../src/accounts/roles/permissions.ts";
import { assetOn } from "../../src/chains/registry/networks.ts";
import { parseUnits } from "../../src/lib/money.ts";
import { network } from "../support/named-network.ts";
import type { Answered, Twin } from "./deployment.ts";
import type { Receiver } from "./internet.ts";

export interface DayOptions {
  readonly shops: number;
  /** Creates a second, over all shops. */
  readonly rate: number;
  readonly seconds: number;
  /** Shares of all invoices. */
  readonly paid: number;
  readonly cancelled: number;
  /** Nobody pays them within the minute that they have. */
  readonly expired: number;
  /** For what was paid to be seen and told, after the last create. */
  readonly settleMs: number;
  readonly random: () => number;
  readonly onProgress?: (line: string) => void;
}

type Fate = "PAID" | "CANCELLED" | "EXPIRED" | "AWAITING_PAYMENT";

interface Kept {
  readonly id: string;
  readonly fate: Fate;
}

interface Shop {
  readonly merchantId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly receiver: Receiver;
  readonly book: Kept[];
}

/** What a route answered: how often, and the milliseconds of each answer, retries included. */
export interface Measured {
  readonly times: number[];
  readonly statuses: Map<number, number>;
}

export interface Findings {
  readonly wrong: readonly string[];
  readonly created: number;
  readonly paid: number;
  readonly events: number;
  readonly routes: ReadonlyMap<string, Measured>;
}

/** A create is asked again with its key until it is answered, as a shop's server does. */
const CREATED_WITHIN_MS = 120_000;
const KEY_PERMISSIONS = SECRET_KEY_PERMISSIONS.map(keyPermissionName);
/** The shortest life of an invoice. */
const SHORT = { expiresInSeconds: 60 };
/** Twice as long each time up to the second, and drawn from the half to the whole, so that those who were refused together do not come back together. */
const AGAIN_AFTER_MS = { first: 500, most: 16_000 };
const BROKEN: Answered = { status: 599, text: "the connection broke", json: undefined as never, cookies: [] };
/** What a client asks again with the same key: nothing was done, or it is still being done. */
const mayRepeat = ({ status, text }: Answered) =>
  status >= 500 || status === 429 || /"code":"[A-Z_]*IN_PROGRESS"/.test(text);
const MANNERS = ["good", "slow", "failing"] as const;
/** What the shops take. */
export const TOKEN = tokenOf("USDT");

function tokenOf(code: string): { readonly contract: string; readonly decimals: number } {
  const { contract, decimals } = assetOn(network("ETH"), code) ?? {};
  if (contract == null || decimals === undefined) throw new Error(`${code} is no token`);
  return { contract, decimals };
}

export class Day {
  readonly #twin: Twin;
  readonly #chain: EvmChain;
  readonly #options: DayOptions;
  readonly #shops: Shop[] = [];
  readonly #routes = new Map<string, Measured>();
  readonly #wrong: string[] = [];
  readonly #payments: Promise<unknown>[] = [];
  #sending: Promise<unknown> = Promise.resolve();

  constructor(twin: Twin, chain: EvmChain, options: DayOptions) {
    this.#twin = twin;
    this.#chain = chain;
    this.#options = options;
  }

  /** `session`: the headers of an operator. */
  async open(session: Readonly<Record<string, string>>): Promise<void> {
    for (let shop = 0; shop < this.#options.shops; shop++) this.#shops.push(await this.#openShop(shop, session));
  }

  /** Everything that happens; `during` runs beside it. */
  async play(during: () => Promise<void> = async () => {}): Promise<void> {
    const { rate, seconds, random, onProgress } = this.#options;
    const endMs = Date.now() + seconds * 1_000;
    const running = new Set<Promise<void>>();
    const beside = during();
    let saidMs = Date.now();
    while (Date.now() < endMs) {
      const shop = this.#shops[Math.floor(random() * this.#shops.length)];
      if (shop === undefined) throw new Error("no shop is open");
      const work = this.#order(shop).catch((error: unknown) => void this.#wrong.push(String(error)));
      running.add(work);
      void work.then(() => running.delete(work));
      if (Date.now() - saidMs >= 10_000) {
        saidMs = Date.now();
        onProgress?.(`${this.#created()} invoices, ${Math.round((endMs - saidMs) / 1_000)} s to go`);
      }
      await sleep((1_000 / rate) * 2 * random());
    }
    await Promise.all(running);
    await Promise.all(this.#payments);
    await beside;
  }

  /** Compares the deployment with the book, once everything that was begun has had its time. */
  async close(): Promise<Findings> {
    const lateMs = Date.now() + this.#options.settleMs;
    // A read would settle what a job has to settle: so the shops are told first.
    while (this.#untold().length > 0 && Date.now() < lateMs) await sleep(1_000);
    this.#wrong.push(...this.#untold());
    let wrong = await this.#differences();
    while (wrong.length > 0 && Date.now() < lateMs) {
      await sleep(1_000);
      wrong = await this.#differences();
    }
    const events = this.#shops.reduce((sum, { receiver }) => sum + receiver.accepted.size, 0);
    const paid = this.#shops.flatMap(({ book }) => book).filter(({ fate }) => fate === "PAID").length;
    return {
      wrong: [...new Set([...this.#wrong, ...wrong])],
      created: this.#created(),
      paid,
      events,
      routes: this.#routes,
    };
  }

  #created(): number {
    return this.#shops.reduce((sum, { book }) => sum + book.length, 0);
  }

  async #openShop(nth: number, session: Readonly<Record<string, string>>): Promise<Shop> {
    const made = await this.#good("POST /merchants", "/api/v1/merchants", "POST", session, {
      name: `Corner shop ${nth}`,
    });
    const merchantId = (made.json as { readonly id: string }).id;
    const root = `/api/v1/merchants/merchant/${merchantId}`;
    const receiver = this.#twin.world.receiver(MANNERS[nth % MANNERS.length] ?? "good");
    const key = await this.#good("POST /api-keys", `${root}/api-keys`, "POST", session, {
      ...{ name: "server", kind: "SECRET", permissions: KEY_PERMISSIONS },
    });
    const headers = { "x-api-key": (key.json as { readonly secret: string }).secret };
    const hook = await this.#good("POST /webhooks", `${root}/webhooks`, "POST", session, {
      url: receiver.url,
      events: ["*"],
    });
    receiver.secret = (hook.json as { readonly secret: string }).secret;
    const address = `0x${randomBytes(20).toString("hex")}`;
    const wallet = {
      walletType: "DIRECT_WALLET",
      cryptocurrency: "USDT",
      network: "ETH",
      address,
      requiredConfirmations: 1,
    };
    await this.#good("POST /wallets", `${root}/wallets`, "POST", headers, wallet);
    return { merchantId, headers, receiver, book: [] };
  }

  async #order({ merchantId, headers, book }: Shop): Promise<void> {
    const { random } = this.#options;
    const fate = fateOf(random(), this.#options);
    const externalId = randomBytes(8).toString("hex");
    const body = {
      name: "Order",
      rawAmount: 5 + Math.floor(random() * 900) / 10,
      externalId,
      ...(fate === "EXPIRED" ? SHORT : {}),
    };
    const root = `/api/v1/merchants/merchant/${merchantId}/invoices`;
    const keyed = { ...headers, "idempotency-key": externalId };
    const made = await this.#good("POST /invoices", root, "POST", keyed, body);
    const invoice = made.json as { readonly id: string; readonly paymentMethods: readonly Method[] };
    book.push({ id: invoice.id, fate });
    if (fate === "CANCELLED")
      await this.#good("POST /cancel", `${root}/${invoice.id}/cancel`, "POST", {
        ...headers,
        "idempotency-key": `${externalId}-cancel`,
      });
    if (fate === "PAID")
      this.#payments.push(this.#pay(invoice.paymentMethods).catch((error) => void this.#wrong.push(String(error))));
    if (fate === "AWAITING_PAYMENT") await this.#good("GET /invoices/:id", `${root}/${invoice.id}`, "GET", headers);
  }

  async #pay(methods: readonly Method[]): Promise<void> {
    const [method] = methods;
    if (method?.address == null || method.amount === null) throw new Error("an invoice shows no payment");
    const units = parseUnits(method.amount, TOKEN.decimals);
    if (!units.ok) throw new Error(`${method.amount} is no amount`);
    const payment = { contract: TOKEN.contract, to: method.address, units: units.value };
    // One after the other: the customers of the chain are few, and two transactions of one at once may take each other's place.
    this.#sending = this.#sending.then(() => this.#chain.sendToken(payment));
    await this.#sending;
  }

  /** Asks until it is answered well; refusals that ask to be asked again are. */
  async #good(
    route: string,
    path: string,
    method: string,
    headers: Readonly<Record<string, string>>,
    body?: unknown,
  ): Promise<Answered> {
    const measured = this.#routes.get(route) ?? { times: [], statuses: new Map<number, number>() };
    this.#routes.set(route, measured);
    const begunMs = Date.now();
    for (let pauseMs = AGAIN_AFTER_MS.first; ; pauseMs = Math.min(2 * pauseMs, AGAIN_AFTER_MS.most)) {
      const onceMs = Date.now();
      const asked = { method, headers, ...(body === undefined ? {} : { body }) };
      // A connection that breaks, as while machines are replaced, says nothing of what was done.
      const answer = await this.#twin.ask(path, asked).catch(() => BROKEN);
      measured.times.push(Date.now() - onceMs);
      measured.statuses.set(answer.status, (measured.statuses.get(answer.status) ?? 0) + 1);
      if (answer.status < 300) return answer;
      if (!mayRepeat(answer) || Date.now() - begunMs > CREATED_WITHIN_MS)
        throw new Error(`${route}: ${answer.status} ${answer.text.slice(0, 300)}`);
      await sleep(pauseMs * (0.5 + this.#options.random() / 2));
    }
  }

  async #differences(): Promise<readonly string[]> {
    const wrong: string[] = [];
    for (const shop of this.#shops) wrong.push(...(await this.#differencesOf(shop)));
    return [...wrong, ...this.#untold()];
  }

  #untold(): readonly string[] {
    return this.#shops.flatMap(({ book, receiver }) => eventsMissing(book, receiver));
  }

  async #differencesOf({ merchantId, headers, book }: Shop): Promise<readonly string[]> {
    const wrong: string[] = [];
    const listed = new Map<string, string>();
    for (let page = 1; ; page++) {
      const answer = await this.#twin.ask(`/api/v1/merchants/merchant/${merchantId}/invoices?limit=100&page=${page}`, {
        headers,
      });
      if (answer.status !== 200) return [`the list of ${merchantId}: ${answer.status} ${answer.text.slice(0, 200)}`];
      const { data } = answer.json as { readonly data: readonly { id: string; status: string }[] };
      for (const each of data) listed.set(each.id, each.status);
      if (data.length < 100) break;
    }
    if (listed.size !== book.length) wrong.push(`${merchantId}: ${listed.size} invoices, ${book.length} were made`);
    for (const { id, fate } of book) {
      const status = listed.get(id);
      if (status !== fate) wrong.push(`${id}: ${status}, and not ${fate}`);
    }
    return wrong;
  }
}

function fateOf(draw: number, { paid, cancelled, expired }: DayOptions): Fate {
  if (draw < paid) return "PAID";
  if (draw < paid + cancelled) return "CANCELLED";
  return draw < paid + cancelled + expired ? "EXPIRED" : "AWAITING_PAYMENT";
}

interface Method {
  readonly address: string | null;
  readonly amount: string | null;
}

const LAST_EVENT: Readonly<Record<Fate, string | undefined>> = {
  PAID: "invoice.paid",
  CANCELLED: "invoice.cancelled",
  EXPIRED: "invoice.expired",
  AWAITING_PAYMENT: undefined,
};

/** What the receiver was told of each invoice: its last event once, and each number of its sequence once. */
function eventsMissing(book: readonly Kept[], { accepted, refused, manner }: Receiver): readonly string[] {
  const wrong = refused === 0 ? [] : [`${refused} deliveries with a wrong signature`];
  const told = new Map<string, { readonly types: string[]; readonly sequences: number[] }>();
  for (const { invoiceId = "", type, sequence } of accepted.values()) {
    const of = told.get(invoiceId) ?? { types: [], sequences: [] };
    told.set(invoiceId, of);
    of.types.push(type);
    if (sequence !== null) of.sequences.push(sequence);
  }
  for (const { id, fate } of book) {
    const { types = [], sequences = [] } = told.get(id) ?? {};
    const last = LAST_EVENT[fate];
    const times = types.filter((type) => type === last).length;
    if (last !== undefined && times !== 1) wrong.push(`${id}: ${last} came ${times} times (${manner} receiver)`);
    const inOrder = sequences.toSorted((a, b) => a - b);
    if (inOrder.length === 0 || inOrder.some((number, at) => number !== at + 1))
      wrong.push(`${id}: the numbers of its events are ${inOrder} (${manner} receiver)`);
  }
  return wrong;
}
