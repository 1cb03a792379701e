// Payers claim transactions, and the merchant looks them up and sets payments aside, for the merchant's own invoices and a rival's. Meanwhile rows of
// these transactions appear, change and disappear. One thing happens at a time, at any interval. In some histories database responses are lost.
import { readFile } from "../../../src/commerce/invoices/change-invoice.ts";
import type { Payment, StoredPayment } from "../../../src/commerce/payments/payment.ts";
import { selectPaymentFile } from "../../../src/commerce/payments/store.ts";
import type { MacKeys } from "../../../src/commerce/wallet-records/row-mac.ts";
import type { Claim, ClaimOutcome } from "../../../src/detection/claims/claim.ts";
import { type ClaimDependencies, claimPayment, readStanding } from "../../../src/detection/claims/claim-payment.ts";
import { type LookUpDependencies, lookUpPayment } from "../../../src/detection/resolutions/look-up-payment.ts";
import {
  assignPayment,
  type ResolveDependencies,
  setAside,
} from "../../../src/detection/resolutions/resolve-payment.ts";
import { type MerchantId, makeId, newUlid } from "../../../src/lib/ids.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/lib/time.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { paymentClaims, payments } from "../../../src/platform/db/schema/payments.ts";
import { randomFrom } from "../../support/random.ts";
import { Lab } from "../engine/lab.ts";
import { MERCHANT, NOW_MS, ORDERS, type Order, stockTill } from "./payments-till.ts";
import { instantSleep } from "./reorg-shop.ts";

const RIVAL: MerchantId = makeId("mer", "1".repeat(26));
const RIVALS_INVOICE = makeId("inv", "9".repeat(26));
const AT_DESK = "usr_00000000000000000000000001";
/** The confirmations that an invoice's method requires; a row may require more or fewer. */
export const METHODS_CONFIRMATIONS = 2;
const MAC_KEYS: MacKeys = [{ id: "test", secret: new Uint8Array(32).fill(7) }];
const HASHES = {
  ETH: ["a", "b", "c", "d", "e"].map((digit) => `0x${digit.repeat(64)}`),
  BTC: ["a", "b", "c", "d"].map((digit) => digit.repeat(64)),
};
const OUTCOMES: readonly ClaimOutcome[] = ["FOUND", "NOT_FOUND", "UNAVAILABLE"];
/** Pauses between acts: up to minutes, as in a busy hour, or up to 30 hours. */
const PACES_MS = [
  [0, 1, 999, SECOND_MS, MINUTE_MS - 1, MINUTE_MS, MINUTE_MS + 1, 4 * MINUTE_MS + 7],
  [0, 0, 1, 999, SECOND_MS, MINUTE_MS - 1, MINUTE_MS, 10 * MINUTE_MS, HOUR_MS - 1, HOUR_MS, 30 * HOUR_MS],
];

/** The scripted answers of the lookup and of the callers' rate limiter, and the requests that they received. */
export interface Script {
  readonly outcome: ClaimOutcome;
  /** A row that the lookup stores. */
  readonly stores: StoredPayment | undefined;
  readonly waitSeconds: number;
  readonly looked: string[];
  readonly counted: (string | null)[];
}

export class Desk {
  readonly lab = new Lab();
  nowMs = NOW_MS;
  /** How many database calls, or their responses, were lost. */
  lost = 0;
  #random = randomFrom(0);
  #faultChance = 0;
  #rows = 0;
  #paceMs: readonly number[] = [];
  /** What another writer does just before this one's next write. */
  #meanwhile: (() => void) | undefined;
  readonly #db = this.lab.db(async (point, work) => {
    if (point === "d1 write") this.#another();
    const value = this.chance(this.#faultChance) ? this.#lose(work) : work();
    return value;
  });

  static async open(): Promise<Desk> {
    const desk = new Desk();
    await stockTill(desk.lab);
    desk.lab.rows(`update payment_methods set required_confirmations = ${METHODS_CONFIRMATIONS}`);
    return desk;
  }

  begin(seed: number): void {
    this.#random = randomFrom(seed);
    this.#faultChance = this.pick([0, 0, 0.05]);
    this.#paceMs = this.pick(PACES_MS);
    this.nowMs = NOW_MS;
    this.lost = 0;
    this.#rows = 0;
  }

  /** Expires the invoice once its time is over. */
  end({ id, expiresAtMs }: Order): void {
    if (this.nowMs <= expiresAtMs) return;
    this.lab.rows(`update invoices set status = 'EXPIRED' where id = '${id}' returning id`);
  }

  /** Whether the invoice has ended and nothing is watched for it. */
  isOver({ id, expiresAtMs }: Order): boolean {
    const [{ status } = {}] = this.lab.rows("select status from invoices where id = ?", id);
    const isActive = status === "AWAITING_PAYMENT" || status === "PENDING_CONFIRMATION";
    return !isActive && this.nowMs > expiresAtMs + 24 * HOUR_MS;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.#random() * choices.length)];
    if (choice === undefined) throw new Error("nothing to choose from");
    return choice;
  }

  chance(of: number): boolean {
    return of > 0 && this.#random() < of;
  }

  timePasses(): void {
    this.nowMs += this.pick(this.#paceMs);
  }

  hashFor(order: Order): string {
    return this.pick(HASHES[order.pair.network]);
  }

  /** A payment as a watcher or user may have left it, for either merchant, to an order's address or elsewhere. */
  newRow(): StoredPayment {
    const order = this.pick(ORDERS);
    const { network, cryptocurrency } = order.pair;
    this.#rows++;
    const id = makeId("pay", String(this.#rows).padStart(26, "0"));
    const merchantId = this.pick([MERCHANT, MERCHANT, RIVAL]);
    const isCredited = this.chance(0.5);
    const isReplaced = this.chance(0.15);
    const status = isReplaced ? "DROPPED" : this.pick(isCredited ? CREDITED : LOOSE);
    const own = this.pick([order, ...ORDERS.filter(({ pair }) => pair.network === network)]);
    const invoiceId = merchantId === MERCHANT ? own.id : RIVALS_INVOICE;
    const decided = { action: "IGNORE", reason: "r", actor: AT_DESK, at: "2027-01-15T08:00:00.000Z" };
    return {
      id,
      merchantId,
      network,
      cryptocurrency,
      chainId: null,
      txHash: this.hashFor(order),
      fromAddress: this.pick([null, "a payer", order.address]),
      invoiceId: isCredited ? invoiceId : null,
      outputIndex: isReplaced ? `${this.#rows}~${id}` : String(this.#rows),
      toAddress: this.chance(0.8) ? order.address : "elsewhere",
      amountUnits: BigInt(1 + Math.floor(this.#random() * 1_000_000)),
      fiatMicros: null,
      marketMicros: null,
      weighedBy: null,
      weighedQuote: null,
      usdMicros: null,
      confirmations: 1,
      status,
      requiredConfirmations: this.pick([1, 3]),
      blockHeight: 10,
      blockHash: "b",
      blockTimeMs: this.nowMs,
      isLate: isCredited && this.chance(0.3),
      matchedBy: null,
      receivedAtMs: this.nowMs,
      confirmedAtMs: null,
      reorgedAtMs: null,
      lastKnownAtMs: this.nowMs,
      finalAtMs: null,
      wasIgnored: false,
      evidence: this.pick(["{}", "{}", '{"leastConfirmations":1}', '{"leastConfirmations":100}']),
      // A payment that a rule ignored has no resolution.
      resolution:
        status === "IGNORED" && this.chance(0.5) ? (JSON.stringify(decided) as StoredPayment["resolution"]) : null,
      createdAtMs: this.nowMs,
      updatedAtMs: this.nowMs,
    } as StoredPayment;
  }

  async store(row: StoredPayment): Promise<void> {
    await this.#withoutFaults(() => this.#db.insert(payments).values(row));
  }

  rows(): Promise<readonly Payment[]> {
    return this.#withoutFaults(() => this.#db.select().from(payments));
  }

  claims(): Promise<readonly Claim[]> {
    return this.#withoutFaults(async () => (await this.#db.select().from(paymentClaims)) as Claim[]);
  }

  script(): Script {
    return {
      outcome: this.pick(OUTCOMES),
      stores: this.chance(0.3) ? this.newRow() : undefined,
      waitSeconds: this.pick([0, 0, 0, 0, 7]),
      looked: [],
      counted: [],
    };
  }

  claim(order: Order, txHash: string, script: Script, network: string = order.pair.network) {
    const deps: ClaimDependencies = {
      ...this.#commits(),
      look: async (...asked) => {
        script.looked.push(asked.join(" "));
        if (script.stores !== undefined) await this.store(script.stores);
        return script.outcome;
      },
      waitOfIp: async (ip) => {
        script.counted.push(ip);
        return script.waitSeconds;
      },
    };
    return claimPayment(deps, { invoiceId: order.id, network, txHash, ip: "192.0.2.1" });
  }

  standing(claim: Claim) {
    return this.#withoutFaults(() => readStanding(this.#commits(), claim));
  }

  lookUp(
    network: string,
    txHash: string,
    outcome: Awaited<ReturnType<LookUpDependencies["look"]>>,
    waitSeconds: number,
  ) {
    const deps: LookUpDependencies = {
      db: this.#db,
      sleep: instantSleep,
      hasSource: (name) => name !== "LTC",
      look: async () => outcome,
      waitOf: async () => waitSeconds,
    };
    return lookUpPayment(deps, { merchantId: MERCHANT, network, txHash });
  }

  async setAside(id: string, action: "IGNORE" | "REOPEN") {
    const [read] = await this.#withoutFaults(() => selectPaymentFile(this.#db, MERCHANT, id));
    if (read === undefined) return undefined;
    const trail = { ...SYSTEM_TRAIL, actor: { kind: "USER", id: AT_DESK } } as ResolveDependencies["trail"];
    const deps = { ...this.#commits(), trail } as ResolveDependencies;
    return setAside(deps, read, { action, reason: "seen in person" });
  }

  /** `meanwhile`: what another writer does before the first attempt is stored. */
  async assign(id: string, order: Order, hasRates: boolean, meanwhile: (() => void) | undefined) {
    const [read] = await this.#withoutFaults(() => selectPaymentFile(this.#db, MERCHANT, id));
    const file = await this.#withoutFaults(() => readFile({ db: this.#db, sleep: instantSleep }, MERCHANT, order.id));
    if (read === undefined || !file.ok) return undefined;
    const trail = { ...SYSTEM_TRAIL, actor: { kind: "USER", id: AT_DESK } } as ResolveDependencies["trail"];
    const price = (usd: string) => ({ usd, atMs: this.nowMs, sources: ["a", "b"] });
    const assets = hasRates ? { USDT: price("1"), USDC: price("1"), BTC: price("50000") } : {};
    const deps: ResolveDependencies = {
      ...this.#commits(),
      trail,
      hasSource: () => true,
      table: async () => ({ assets, fiat: {} }),
      body: { macKeys: MAC_KEYS, publicUrl: "https://pay.example", nowMs: this.nowMs },
      allocateAmounts: async () => [{ kind: "refused", refusal: { code: "AMOUNTS_EXHAUSTED" } }],
    };
    this.#meanwhile = meanwhile;
    const answer = await assignPayment(deps, read, {
      file: file.value,
      reason: "seen in person",
      quorumAboveMicros: null,
    });
    this.#meanwhile = undefined;
    return answer;
  }

  #another(): void {
    const act = this.#meanwhile;
    this.#meanwhile = undefined;
    act?.();
  }

  #commits() {
    const newOperationId = () =>
      newUlid(
        this.nowMs,
        Uint8Array.from({ length: 16 }, () => this.#random() * 256),
      );
    return { db: this.#db, nowMs: this.nowMs, sleep: instantSleep, newOperationId };
  }

  /** Loses the call itself, or its response. */
  #lose<T>(work: () => T): T {
    this.lost++;
    if (this.chance(0.5)) work();
    throw new Error("Network connection lost.");
  }

  async #withoutFaults<T>(work: () => PromiseLike<T>): Promise<T> {
    const before = this.#faultChance;
    this.#faultChance = 0;
    const value = await work();
    this.#faultChance = before;
    return value;
  }
}

const CREDITED = ["DETECTED", "CONFIRMED", "REORGED", "DROPPED"] as const;
const LOOSE = ["UNMATCHED", "IGNORED", "REORGED", "DROPPED"] as const;
