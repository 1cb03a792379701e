// A shop with a random history from a seed. Most histories start near a clock change. Each act is one operation of the service.

import { type Pair, pairOf } from "../../../src/chains/registry/pair.ts";
import type { InvoiceFile } from "../../../src/commerce/invoice-records/invoice.ts";
import { addPaymentMethod, type PickDependencies } from "../../../src/commerce/invoices/add-payment-method.ts";
import { cancelInvoice } from "../../../src/commerce/invoices/cancel-invoice.ts";
import { readFile } from "../../../src/commerce/invoices/change-invoice.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import { refreshInvoice } from "../../../src/commerce/invoices/refresh-invoice.ts";
import { resolveInvoice } from "../../../src/commerce/invoices/resolve-invoice.ts";
import type { ChainObservation } from "../../../src/commerce/payments/chain-observation.ts";
import { isSuperseded } from "../../../src/commerce/payments/payment.ts";
import { selectPaymentFile } from "../../../src/commerce/payments/store.ts";
import { applyTransfers, type Findings } from "../../../src/detection/matching/apply-transfers.ts";
import { pricePayments } from "../../../src/detection/matching/price-payments.ts";
import { assignPayment, setAside } from "../../../src/detection/resolutions/resolve-payment.ts";
import { newUlid } from "../../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/lib/time.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { commit } from "../../../src/platform/db/batch.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import type { Work } from "../../../src/platform/idempotency/run-once.ts";
import type { RateTable } from "../../../src/rates/quote.ts";
import { Dice } from "../../support/dice.ts";
import type { Lab } from "../engine/lab.ts";
import { allocatorOf, amountsAt, creating, DIRECT, MAC_KEYS, MERCHANT, stockShop, walletOf, XPUB } from "./shop.ts";

/** Start times: before clock changes in New York, on Lord Howe Island (both ways) and in Havana, at the end of a year, and at an ordinary time. */
const STARTS = [
  "2026-03-07T20:00Z",
  "2026-11-01T00:00Z",
  "2026-04-04T09:00Z",
  "2026-10-03T10:00Z",
  "2026-03-08T01:00Z",
  "2026-12-31T08:00Z",
  "2026-06-15T12:07Z",
].map((text) => Date.parse(text));

const PAUSES = [SECOND_MS, 40 * SECOND_MS, 3 * MINUTE_MS, 14 * MINUTE_MS, 31 * MINUTE_MS, 3 * HOUR_MS];

/** A worthless test coin at the direct wallet's address. */
const TESTED: Pair = { cryptocurrency: "USDC", network: "ETH_SEPOLIA" };
const PAIRS = [DIRECT, XPUB, TESTED];

/** Stores the campaigns' shop, with an additional wallet for the coin of a test network. */
export async function stockReportedShop(lab: Lab): Promise<void> {
  await stockShop(lab);
  const db = lab.db(async (_, work) => work());
  await db.insert(wallets).values(walletOf("wal_00000000000000000000000003", TESTED));
}

type Act = () => Promise<unknown>;

export class ReportedShop {
  readonly startMs: number;
  nowMs: number;
  readonly #lab: Lab;
  readonly #dice: Dice;
  readonly #count: (what: string) => void;
  #height = 1_000;
  #sent = 0;
  #hasRates = true;

  constructor(lab: Lab, seed: number, count: (what: string) => void) {
    this.#lab = lab;
    this.#dice = new Dice(seed);
    this.#count = count;
    this.startMs = this.#dice.oneOf(STARTS) + this.#dice.below(6 * HOUR_MS);
    this.nowMs = this.startMs;
  }

  statuses() {
    return this.#lab.rows("select status from invoices").map(({ status }) => String(status));
  }

  /** Pauses, then does one random act; returns its name. */
  async act(): Promise<string> {
    const dice = this.#dice;
    this.nowMs += dice.oneOf(PAUSES);
    this.#height += 1;
    this.#hasRates = dice.chance(0.85);
    const acts: readonly (readonly [string, number, Act])[] = [
      ["create", 5, () => this.#create()],
      ["pick", 3, () => this.#pick()],
      ["pay", 8, () => this.#pay()],
      ["confirm", 5, () => this.#look("mined")],
      ["lose", 3, () => this.#look("gone")],
      ["cancel", 1, () => this.#cancel()],
      ["sweep", 3, () => this.#sweep()],
      ["refresh", 1, () => this.#withInvoice((file) => refreshInvoice(this.#deps(), file))],
      ["resolve", 3, () => this.#resolve()],
      ["decide", 2, () => this.#decide()],
      ["price", 4, () => this.#price()],
    ];
    const [name, , run] = dice.oneOf(acts.flatMap((each) => Array.from({ length: each[1] }, () => each)));
    await run();
    return name;
  }

  #deps(): PickDependencies {
    const { nowMs } = this;
    const lab = this.#lab;
    return {
      db: lab.db(async (_, work) => work()),
      nowMs,
      sleep: (ms) => (ms >= 3_000 ? new Promise(() => {}) : Promise.resolve()),
      newOperationId: () =>
        newUlid(
          nowMs,
          Uint8Array.from({ length: 16 }, () => this.#dice.below(256)),
        ),
      trail: SYSTEM_TRAIL,
      table: async () => this.#rates(),
      macKeys: MAC_KEYS,
      isWatched: () => true,
      hasSource: () => true,
      wakeWatcher: () => {},
      allocate: async (keyHash, request) => allocatorOf(lab, keyHash).allocate(request),
      allocateAmounts: async (place, requests) => amountsAt(lab, place).allocate(requests),
      body: { macKeys: MAC_KEYS, publicUrl: "https://pay.example", nowMs },
    };
  }

  #rates(): RateTable {
    if (!this.#hasRates) return { assets: {}, fiat: {} };
    const of = (usd: string) => ({ usd, atMs: this.nowMs, sources: ["a", "b"] });
    return { assets: { USDT: of("1"), USDC: of("1"), BTC: of("50000"), ETH: of("2000") }, fiat: {} };
  }

  async #run(work: Work): Promise<void> {
    const deps = this.#deps();
    const prepared = await work(deps.newOperationId(), undefined, 0);
    if (prepared.kind === "ready" && prepared.statements.length > 0) await commit(deps.db, [...prepared.statements]);
  }

  async #create(): Promise<void> {
    const dice = this.#dice;
    const currency = dice.oneOf(["USD", "USD", "BTC", "ETH"]);
    await this.#deps()
      .db.update(merchants)
      .set({ latePaymentPolicy: dice.oneOf(["REVIEW", "ACCEPT"]) });
    const invoice = {
      name: "Order",
      currency,
      rawAmount: currency === "USD" ? 100_000_000n : 2_000n,
      pairs: dice.oneOf([[], [DIRECT], [XPUB], [TESTED], PAIRS]),
      expiresInSeconds: dice.oneOf([60, 600, 3_600, 86_400]),
    };
    const work = await creating(invoice)({ operation: this.#deps(), once: undefined as never });
    if (typeof work === "function") await this.#run(work);
  }

  async #withInvoice(work: (file: InvoiceFile) => Promise<unknown>): Promise<void> {
    const rows = this.#lab.rows("select id from invoices");
    if (rows.length === 0) return;
    const file = await readFile(this.#deps(), MERCHANT, String(this.#dice.oneOf(rows).id));
    if (file.ok) await work(file.value);
  }

  #pick(): Promise<void> {
    const pair = this.#dice.oneOf(PAIRS);
    const request = { pair, isFromPublicKey: false, callers: [] };
    return this.#withInvoice((file) => this.#run(addPaymentMethod(this.#deps(), { ...request, file })));
  }

  /** Sends the full amount, a part of it or more to the address of a random invoice, now or some minutes ago. */
  async #pay(): Promise<void> {
    const dice = this.#dice;
    const methods = this.#lab.rows(
      "select * from payment_methods where status = 'ACTIVE' and amount_units is not null",
    );
    if (methods.length === 0) return;
    const method = dice.oneOf(methods);
    const asked = BigInt(method.amount_units ?? 0);
    const share = BigInt(dice.oneOf([100, 100, 100, 60, 40, 130, 33]));
    const pair = pairOn(method.network);
    if (pair === TESTED) this.#count("paid on a test network");
    const timeMs = this.nowMs - dice.oneOf([0, 5 * SECOND_MS, 20 * MINUTE_MS]);
    const isPending = dice.chance(0.4);
    await this.#apply(pair, {
      seen: [],
      transfers: [
        {
          cryptocurrency: pair.cryptocurrency,
          txHash: `tx${this.#sent++}`,
          outputIndex: "0",
          fromAddress: null,
          toAddress: String(method.address),
          amountUnits: (asked * share) / 100n,
          spends: [],
          raw: "{}",
          block: isPending ? null : { height: this.#height, hash: `h${this.#height}`, timeMs },
        },
      ],
    });
  }

  async #apply(pair: typeof DIRECT, found: Pick<Findings, "seen" | "transfers">): Promise<void> {
    const { network } = pairOf(pair);
    const heights = { tipHeight: this.#height + this.#dice.below(3), finalizedHeight: null };
    const applied = await applyTransfers(this.#deps(), { network, heights, ...found });
    if (!applied.ok) throw new Error(applied.error.code);
  }

  /** Observes a known payment again: it is mined, perhaps with an earlier time, or gone, temporarily or for good. */
  async #look(kind: "mined" | "gone"): Promise<void> {
    const dice = this.#dice;
    const rows = await this.#deps().db.select().from(payments);
    if (rows.length === 0) return;
    const payment = dice.oneOf(rows);
    const height = dice.chance(0.5) ? (payment.blockHeight ?? this.#height - 4) : this.#height - 4;
    // A dropped payment may return at any time, in a block with the time of its return.
    const isBack = kind === "mined" && payment.status === "DROPPED" && !isSuperseded(payment);
    if (isBack) this.nowMs += dice.oneOf([0, 3 * DAY_MS, 33 * DAY_MS]);
    const sinceMs = isBack ? this.nowMs : payment.receivedAtMs;
    const timeMs = sinceMs + dice.oneOf([0, 0, -20 * MINUTE_MS, -DAY_MS]);
    const mined: ChainObservation = { kind: "mined", block: { height, hash: `h${height} ${timeMs}`, timeMs } };
    const gone: ChainObservation = dice.chance(0.6) ? { kind: "unknown" } : { kind: "replaced" };
    const observation = kind === "mined" ? mined : gone;
    const wasPaid = this.#paid();
    await this.#apply(pairOn(payment.network), {
      seen: [{ payment, observation }],
      transfers: [],
    });
    if (observation.kind === "replaced") this.#count("dropped");
    if (isBack && this.nowMs - payment.createdAtMs > 2 * DAY_MS) this.#count("back after days");
    if (kind === "mined" && payment.invoiceId !== null && timeMs < payment.receivedAtMs) this.#count("mined earlier");
    if (this.#paid() < wasPaid) this.#count("reversed");
  }

  #paid(): number {
    return this.#lab.rows("select 1 from invoices where status in ('PAID', 'OVERPAID')").length;
  }

  #cancel(): Promise<void> {
    return this.#withInvoice((file) => cancelInvoice(this.#deps(), file));
  }

  /** Networks count as idle, so only the clock closes invoices. */
  async #sweep(): Promise<void> {
    const deps = this.#deps();
    await deps.db.update(networkCursors).set({ isResting: true });
    const { left } = await expireInvoices(deps);
    if (left.length > 0) throw new Error(`the sweep left ${left[0]?.reason}`);
    if (this.#lab.rows("select 1 from payments where is_late = 1").length > 0) this.#count("late");
  }

  #resolve(): Promise<void> {
    const action = this.#dice.oneOf(["ACCEPT", "DISMISS", "RETURNED"] as const);
    return this.#withInvoice(async (file) => {
      const done = await resolveInvoice({ ...this.#deps(), mailer: { post: async () => {} } }, file, {
        action,
        reason: "by hand",
      });
      if (done.ok) this.#count(action);
    });
  }

  /** A user assigns a payment that has no invoice, or ignores it. */
  async #decide(): Promise<void> {
    const rows = this.#lab.rows(
      "select id from payments where invoice_id is null and status in ('UNMATCHED', 'IGNORED')",
    );
    if (rows.length === 0) return;
    const [read] = await selectPaymentFile(this.#deps().db, MERCHANT, String(this.#dice.oneOf(rows).id));
    if (read === undefined) throw new Error("no payment");
    if (this.#dice.chance(0.2)) {
      await setAside(this.#deps(), read, { action: "IGNORE", reason: "by hand" });
      return;
    }
    await this.#withInvoice(async (file) => {
      const done = await assignPayment(this.#deps(), read, { file, reason: "by hand", quorumAboveMicros: null });
      if (done.ok) this.#count("assigned");
    });
  }

  async #price(): Promise<void> {
    const unpriced = () => this.#lab.rows("select 1 from payments where weighed_by = 'NO_RATE'").length;
    const before = unpriced();
    if (before > 0) this.#count("unpriced");
    this.#hasRates = true;
    await pricePayments(this.#deps());
    if (unpriced() < before) this.#count("priced");
  }
}

function pairOn(network: unknown): Pair {
  const pair = PAIRS.find((each) => each.network === network);
  if (pair === undefined) throw new Error(`no pair on ${network}`);
  return pair;
}
