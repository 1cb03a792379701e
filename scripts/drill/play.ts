// The events before, during and after the lost period, and the checks at the end. Findings are sentences; the drill passes if there are none.
import { setTimeout as pause } from "node:timers/promises";
import { networkNamed } from "../../src/chains/registry/networks.ts";
import { isoTime } from "../../src/lib/time.ts";
import { DrillBrowser } from "./browser.ts";
import type { DrillChain } from "./chain.ts";
import { type DrillShop, type Shown, shownOf, stateOf } from "./shop.ts";
import type { Stage } from "./stage.ts";

export interface Sizes {
  /** Invoices of each shop before the restored minute, in the lost period, and after the import. */
  readonly before: number;
  readonly lost: number;
  readonly after: number;
}

interface Order {
  readonly shop: DrillShop;
  readonly shown: Shown;
}

const AT_ONCE = 16;
/** Long enough even for a busy machine. */
const PATIENCE_MS = 120_000;
const EVERY_MS = 250;
const OVERLAP_BLOCKS = networkNamed("BTC")?.overlapBlocks ?? 0;

export class Play {
  readonly #stage: Stage;
  readonly #chain: DrillChain;
  readonly #sizes: Sizes;
  readonly #say: (line: string) => void;
  readonly #findings: string[] = [];
  readonly #orders: Order[] = [];
  readonly #lost: Order[] = [];
  readonly #paid: Order[] = [];

  constructor(of: { stage: Stage; chain: DrillChain; sizes: Sizes; say: (line: string) => void }) {
    this.#stage = of.stage;
    this.#chain = of.chain;
    this.#sizes = of.sizes;
    this.#say = of.say;
  }

  async run(): Promise<readonly string[]> {
    await this.#before();
    const restoredTo = isoTime(Date.now());
    await this.#stage.copyDatabase();
    const owner = await this.#lostTime();
    await this.#putBack();
    const [opened] = await Promise.all([this.#afterwards(restoredTo), undefined]);
    await this.#check(owner, opened);
    return this.#findings;
  }

  async #before(): Promise<void> {
    const { before } = this.#sizes;
    this.#orders.push(...(await this.#create("before", before)));
    const paid = this.#orders.slice(0, 40);
    this.#pay(paid);
    await this.#untilPaid(paid, "the payments before the restored minute");
    await this.#consume();
    this.#say(`${this.#orders.length} invoices, ${paid.length} paid. Copied the database.`);
  }

  async #lostTime(): Promise<DrillBrowser> {
    const { ownerEmail, revoked, baseUrl, own } = this.#stage;
    const lost = await this.#create("lost", this.#sizes.lost);
    this.#orders.push(...lost);
    this.#lost.push(...lost);
    // Pays invoices of both kinds: some from before the restored minute, and half of the lost ones. Other lost invoices are paid later.
    const waiting = this.#orders.slice(40, 80);
    const half = lost.filter((_, n) => n % 2 === 0);
    this.#pay([...waiting, ...half]);
    await this.#untilPaid([...waiting, ...half], "the payments in the lost time");
    const owner = new DrillBrowser(baseUrl, ownerEmail);
    await owner.signIn();
    const merchant = `/api/v1/merchants/merchant/${own.merchantId}`;
    const ended = [
      await owner.call("DELETE", `${merchant}/api-keys/${revoked.keyId}`),
      await owner.call("DELETE", `${merchant}/team/members/${revoked.memberId}`),
    ];
    if (ended.some(({ status }) => status > 299))
      throw new Error(`nothing was revoked: ${ended.map(({ text }) => text)}`);
    await this.#consume();
    this.#say(
      `${lost.length} more invoices, ${half.length} paid; a key and a member revoked. All of that is lost now.`,
    );
    return owner;
  }

  /**
   * As in a real incident, the old deployment runs for a while with the restored database: it reads blocks with payments to invoices that it lost.
   */
  async #putBack(): Promise<void> {
    await this.#stage.stop();
    this.#stage.putBack();
    this.#pay(this.#lost.filter((_, n) => n % 4 === 1));
    // A pass that finds a new block also reads the last few blocks again. Without enough new blocks, that alone would find the lost period's
    // payments.
    for (let n = 0; n < OVERLAP_BLOCKS; n++) this.#chain.mine();
    await this.#stage.start();
    const { height } = this.#chain;
    await until("the old deployment to read the newest block", async () => {
      const [cursor] = this.#stage.rows("select height from network_cursors where network = 'BTC'");
      return Number(cursor?.height ?? 0) >= height;
    });
    await this.#stage.stop();
    this.#say("Put the database back. The old deployment went on with it, and has read every block.");
  }

  /** Starts the deployment with RESTORE_EPOCH; returns the status of the first request to create an invoice. */
  async #afterwards(restoredTo: string): Promise<number> {
    const { own, revoked } = this.#stage;
    await this.#stage.start(`1@${restoredTo}`);
    const body = { name: "Too early", rawAmount: 1, paymentMethods: [] };
    const { status } = await own.call("POST", "/invoices", body);
    // Revoked access must never work again, not even briefly.
    const { status: byRevoked } = await revoked.shop.call("GET", "/invoices");
    if (byRevoked === 200) this.#find("the revoked key works again, before the import has ended");
    if (status !== 503) this.#find(`an invoice could be created before the import had ended: ${status}`);
    await until("the import to end", async () => (await own.call("POST", "/invoices", body)).status === 201);
    const [row] = this.#stage.rows("select phase, revocations, recovered, findings from restores");
    this.#say(`Imported: ${JSON.stringify(row ?? "nothing, nobody asked for it")}.`);
    this.#pay(this.#lost.filter((_, n) => n % 4 === 3));
    return status;
  }

  async #check(owner: DrillBrowser, _opened: number): Promise<void> {
    await this.#checkPayments();
    await this.#checkPlaces();
    await this.#checkRetries();
    await this.#checkRevoked(owner);
    await this.#checkConsumers();
  }

  /** Checks that every payment ever made is credited to its invoice. */
  async #checkPayments(): Promise<void> {
    const missing = await this.#unpaid(this.#paid);
    for (const { shop, shown } of missing.slice(0, 3)) {
      const invoice = await shop.invoice(shown.id);
      this.#find(
        `a payment of ${shown.units} to ${shown.address} is not found: its invoice is ${invoice === undefined ? "gone" : stateOf(invoice)}`,
      );
    }
    if (missing.length > 3) this.#find(`${missing.length} payments in all are not found`);
    const listed = this.#stage.rows("select count(*) as n from restore_findings")[0]?.n;
    this.#say(
      `${this.#paid.length - missing.length} of ${this.#paid.length} payments are found; ${listed} listed to operators.`,
    );
  }

  /** Checks that no address, and no amount at the shared address, was ever shown for two invoices. */
  async #checkPlaces(): Promise<void> {
    const fresh = await this.#create("after", this.#sizes.after);
    const byPlace = new Map<string, Order>();
    for (const order of [...this.#orders, ...fresh]) {
      const { shop, shown } = order;
      const place = shop === this.#stage.own ? shown.address : `${shown.units} at ${shown.address}`;
      const first = byPlace.get(place);
      if (first !== undefined) this.#find(`${place} was given to ${first.shown.id} and to ${shown.id}`);
      byPlace.set(place, order);
    }
    for (const { shop, shown } of this.#lost) {
      const invoice = await shop.invoice(shown.id);
      if (invoice === undefined) {
        this.#find(`the lost invoice ${shown.id} did not come back`);
        break;
      }
      const now = shownOf(invoice);
      if (now.address !== shown.address || now.units !== shown.units)
        this.#find(`${shown.id} came back with another address or amount`);
      if (!invoice.needsReview) this.#find(`${shown.id} came back without a review`);
    }
    this.#say(`${byPlace.size} addresses and amounts, ${fresh.length} of them new, and none twice.`);
  }

  /** Checks that a merchant's program, which repeats a create because it may not have received the answer, gets the same invoice. */
  async #checkRetries(): Promise<void> {
    for (const { shop, shown } of [...this.#lost.slice(0, 5), ...this.#lost.slice(-5)]) {
      const { status, json } = await shop.call("POST", "/invoices", shown.body, { "idempotency-key": shown.key });
      if (status !== 201 || json.id !== shown.id)
        this.#find(`the repeated create of ${shown.id} got ${status} ${json?.id}`);
    }
    this.#say("Repeated 10 creates that were lost.");
  }

  async #checkRevoked(owner: DrillBrowser): Promise<void> {
    const { revoked, own, baseUrl } = this.#stage;
    const { status } = await revoked.shop.call("GET", "/invoices");
    if (status !== 401) this.#find(`the revoked key works again: ${status}`);
    const session = await owner.call("GET", "/api/v1/me");
    if (session.status !== 401) this.#find(`a session from before the restore goes on: ${session.status}`);
    const member = new DrillBrowser(baseUrl, revoked.memberEmail);
    await member.signIn();
    const seat = await member.call("GET", `/api/v1/merchants/merchant/${own.merchantId}/invoices`);
    if (seat.status === 200) this.#find("the removed member is a member again");
    this.#say("Asked with the revoked key, the removed member and an old session.");
  }

  /** Checks that a consumer that skips events it has already seen agrees with the API about each invoice. */
  async #checkConsumers(): Promise<void> {
    await this.#consume();
    const behind: string[] = [];
    await eachOf(this.#orders, async ({ shop, shown: { id } }) => {
      const invoice = await shop.invoice(id);
      if (invoice !== undefined && shop.known(id) !== stateOf(invoice)) {
        behind.push(`the consumer knows ${id} as ${shop.known(id)}, and it is ${stateOf(invoice)}`);
      }
    });
    for (const each of behind.slice(0, 3)) this.#find(each);
    if (behind.length > 3) this.#find(`${behind.length} invoices in all are not as their consumer knows them`);
    this.#say(`Compared ${this.#orders.length} invoices with what their consumers know.`);
  }

  #find(finding: string): void {
    this.#findings.push(finding);
    this.#say(`  FOUND: ${finding}`);
  }

  async #create(name: string, count: number): Promise<readonly Order[]> {
    const { own, shared } = this.#stage;
    const wanted = [own, shared].flatMap((shop) =>
      Array.from({ length: count }, (_, n) => ({ shop, key: `${name}-${n}`, n })),
    );
    const orders: Order[] = [];
    // Uses several prices, because only a limited number of distinct amounts is near each price.
    await eachOf(wanted, async ({ shop, key, n }) => {
      orders.push({ shop, shown: await shop.create(key, 2_000 + (n % 7)) });
    });
    return orders;
  }

  #pay(orders: readonly Order[]): void {
    this.#paid.push(...orders);
    this.#chain.mine(orders.map(({ shown: { address, units } }) => ({ address, units })));
    this.#chain.mine();
  }

  async #consume(): Promise<void> {
    await this.#stage.own.consume();
    await this.#stage.shared.consume();
  }

  async #untilPaid(orders: readonly Order[], what: string): Promise<void> {
    const missing = await this.#unpaid(orders);
    if (missing.length > 0) throw new Error(`${missing.length} of ${what} were not found in time`);
  }

  /** Waits until all orders are paid, or none has been paid for a while. Returns those that are still unpaid. */
  async #unpaid(orders: readonly Order[]): Promise<readonly Order[]> {
    let lateAtMs = Date.now() + PATIENCE_MS;
    let missing = orders;
    for (;;) {
      const still: Order[] = [];
      await eachOf(missing, async (order) => {
        const invoice = await order.shop.invoice(order.shown.id);
        if (invoice === undefined || !/^(PAID|OVERPAID)$/.test(invoice.status)) still.push(order);
      });
      if (still.length < missing.length) lateAtMs = Date.now() + PATIENCE_MS;
      missing = still;
      if (missing.length === 0 || Date.now() > lateAtMs) return missing;
      await pause(EVERY_MS);
    }
  }
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const lateAtMs = Date.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    if (Date.now() > lateAtMs) throw new Error(`gave up waiting for ${what}`);
    await pause(EVERY_MS);
  }
}

/** Works on AT_ONCE items at a time. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
