// Connects the facts of a history with the service: writes a fact into storage at its time, and reads the chain. Only this file knows the tables.
// Quotes are written at the times of their facts, so they are the same in every schedule, no matter who reads the page.
import { eq } from "drizzle-orm";
import { networkNamed } from "../../../src/chains/registry/networks.ts";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { putAmount } from "../../../src/commerce/amounts/store.ts";
import { beginWatch } from "../../../src/commerce/cursors/store.ts";
import type { InvoiceFile } from "../../../src/commerce/invoice-records/invoice.ts";
import { insertInvoice, insertTimelineItem, putMethod } from "../../../src/commerce/invoice-records/store.ts";
import { cancelInvoice } from "../../../src/commerce/invoices/cancel-invoice.ts";
import { readFile } from "../../../src/commerce/invoices/change-invoice.ts";
import { expireInvoices } from "../../../src/commerce/invoices/expire-invoices.ts";
import { refreshInvoice } from "../../../src/commerce/invoices/refresh-invoice.ts";
import { activeMethod } from "../../../src/commerce/payment-methods/payment-method.ts";
import { applyTransfers, type Findings } from "../../../src/detection/matching/apply-transfers.ts";
import { type MerchantId, makeId, newUlid } from "../../../src/lib/ids.ts";
import type { Result } from "../../../src/lib/result.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { type Db, openDb } from "../../../src/platform/db/client.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { allocatorsOf } from "../../support/amount-objects.ts";
import { migratedDatabase, savepoints, sqliteD1, statementCache } from "../engine/sqlite-d1.ts";
import {
  type Asked,
  type BlockFact,
  CHAINS,
  type History,
  heldUntilMs,
  type InvoiceFact,
  SHARED_ADDRESS,
  type TransferFact,
} from "./as-of-facts.ts";
import { invoiceRow, MAC_KEYS, OLDER_MS, walletOf } from "./as-of-rows.ts";
import { instantSleep, type Row } from "./reorg-shop.ts";

export interface Sighting {
  readonly transfer: TransferFact;
  /** Null while the transfer is in the mempool. */
  readonly block: BlockFact | null;
}

interface LookAt {
  readonly atMs: number;
  readonly sightings: readonly Sighting[];
  readonly dieAt?: number | undefined;
}

/** The stored state, in the oracle's terms. */
interface Outcome {
  readonly transfers: ReadonlyMap<
    string,
    { readonly invoiceId: string | null; readonly status: string; readonly rows: number }
  >;
  readonly invoices: ReadonlyMap<string, Row>;
}

const MERCHANTS: readonly [MerchantId, MerchantId] = [
  makeId("mer", "0".repeat(26)),
  makeId("mer", `${"0".repeat(25)}1`),
];

/** A broken variant: how its storage or its reading differs from the real one. */
export interface AsOfVariant {
  readonly name: string;
  /** Whether a quote that is renewed at the same units counts only from the renewal. */
  readonly redatesQuotes?: boolean;
  /** How long a quote is locked, in place of the invoice's own setting. */
  readonly lockMs?: number;
  readonly look?: (till: AsOfTill, apply: () => Promise<void>) => Promise<void>;
}

export class AsOfTill {
  readonly #sqlite = migratedDatabase();
  readonly #prepared = statementCache(this.#sqlite);
  readonly #transact = savepoints(this.#sqlite);
  readonly #db: Db = openDb(sqliteD1(this.#prepared, this.#transact, (_, work) => this.#call(work)));
  readonly #wallets = [
    walletOf(0, MERCHANTS[0], "own"),
    walletOf(1, MERCHANTS[0], "shared"),
    walletOf(2, MERCHANTS[1], "shared"),
  ];
  readonly #variant: AsOfVariant;
  #ulids = 0;
  #death: { calls: number; readonly dieAt: number; readonly die: () => void } | undefined;

  constructor(variant: AsOfVariant = { name: "the service" }) {
    this.#variant = variant;
  }

  async stock(): Promise<void> {
    for (const id of MERCHANTS) {
      await this.#db.insert(merchants).values({ id, name: "Shop", createdAtMs: OLDER_MS, updatedAtMs: OLDER_MS });
    }
    for (const wallet of this.#wallets) await this.#db.insert(wallets).values(wallet);
    for (const { pair } of Object.values(CHAINS)) await beginWatch(this.#db, pair.network, OLDER_MS);
  }

  /** Runs one schedule and rolls back all it wrote. */
  async visit<T>(work: () => Promise<T>): Promise<T> {
    this.#sqlite.exec("SAVEPOINT history");
    this.#ulids = 0;
    try {
      return await work();
    } finally {
      this.#sqlite.exec("ROLLBACK TO history; RELEASE history");
    }
  }

  async openInvoice(kind: History["kind"], of: InvoiceFact): Promise<void> {
    const [asked] = of.asked;
    if (asked === undefined) throw new Error("an invoice that asks for nothing");
    const merchantId = MERCHANTS[of.merchant];
    const invoice = invoiceRow(of, merchantId);
    const { pair } = CHAINS[kind];
    const wallet = this.#wallets.find((each) => each.network === pair.network && each.merchantId === merchantId);
    if (wallet === undefined) throw new Error(`no wallet for ${pair.network}`);
    const method = activeMethod({
      invoice,
      wallet,
      quote: { rate: asked.rate, rateAtMs: asked.atMs, sources: ["a", "b"], amountUnits: asked.units },
      destination: {
        address: of.address,
        addressIndex: kind === "own" ? Number(of.id.at(-1)) : null,
        amountUnits: asked.units,
      },
      macKeys: MAC_KEYS,
      nowMs: asked.atMs,
    });
    const item = { id: makeId("itl", of.id.slice(4)), invoiceId: of.id, position: 1, timeMs: of.openedMs };
    await batch(this.#db, [
      ...insertInvoice(this.#db, invoice),
      insertTimelineItem(this.#db, { ...item, paymentStatus: "AWAITING_PAYMENT" }),
      putMethod(this.#db, method),
    ]);
    this.#writeQuotes(of, asked.atMs);
    if (kind !== "shared") return;
    if (of.rank === 2) this.#prove(merchantId);
    await this.#reserve(of, asked);
  }

  #prove(merchantId: MerchantId): void {
    const proof = [CHAINS.shared.pair.network, SHARED_ADDRESS, merchantId, 50_000_000];
    this.rows("insert or ignore into address_proofs values (?, ?, ?, ?)", ...proof);
  }

  /** The same units requested again soon enough extend the current quote; anything else replaces it. */
  async addQuote(kind: History["kind"], of: InvoiceFact, asked: Asked): Promise<void> {
    this.#writeQuotes(of, asked.atMs);
    if (kind === "shared") await this.#reserve(of, asked);
  }

  /** Opens the payer's page after the quote's lock. Throws if the service then asks for different units from the fact's. */
  async requote(kind: History["kind"], of: InvoiceFact, asked: Asked): Promise<void> {
    if (this.#variant.redatesQuotes || this.#variant.lockMs !== undefined) return this.addQuote(kind, of, asked);
    done("requote", await refreshInvoice(this.#dependencies(asked.atMs, asked.rate), await this.#file(of)));
    const [row] = this.rows("select amount_units from payment_methods where invoice_id = ?", of.id);
    if (String(row?.amount_units) !== String(asked.units))
      throw new Error(`${of.id} asks ${row?.amount_units}, not ${asked.units}`);
  }

  async cancel(of: InvoiceFact, atMs: number): Promise<void> {
    const file = await this.#file(of);
    done("cancel", await cancelInvoice(this.#dependencies(atMs, null), file));
  }

  /** Reads the chain. With `dieAt` the watcher crashes at that storage call, before or after the call takes effect, and its successor reads again. */
  async look(kind: History["kind"], of: LookAt): Promise<void> {
    const apply = () => this.#apply(kind, of);
    await (this.#variant.look === undefined ? apply() : this.#variant.look(this, apply));
  }

  /** Observes that a known transfer is in no block. */
  async gone(kind: History["kind"], of: { readonly atMs: number; readonly txHash: string }): Promise<void> {
    const rows = await this.#db.select().from(payments).where(eq(payments.txHash, of.txHash));
    const seen = rows.map((payment) => ({ payment, observation: { kind: "unknown" } as const }));
    done(
      "gone",
      await applyTransfers(this.#dependencies(of.atMs, null), { ...this.#look(kind, []), transfers: [], seen }),
    );
  }

  /** Stores the time up to which the network has been read. */
  readTo(kind: History["kind"], of: { readonly atMs: number; readonly readMs: number }): void {
    const at = [of.readMs, of.atMs, of.atMs, CHAINS[kind].pair.network];
    this.rows(
      "update network_cursors set passed_ms = ?, last_moved_at_ms = ?, ticked_at_ms = ? where network = ?",
      ...at,
    );
  }

  /** Reads the invoice, and commits what a GET commits before it answers. */
  async view(of: InvoiceFact, atMs: number): Promise<void> {
    done("view", await refreshInvoice(this.#dependencies(atMs, null), await this.#file(of)));
  }

  async sweep(atMs: number): Promise<void> {
    const { left } = await expireInvoices(this.#dependencies(atMs, null));
    if (left.length > 0) throw new Error(`the sweep left ${left[0]?.invoiceId}: ${left[0]?.reason}`);
  }

  outcome(): Outcome {
    const transfers = Map.groupBy(this.rows("select tx_hash, invoice_id, status from payments"), (row) =>
      String(row.tx_hash),
    );
    const invoices = this.rows("select id, status, received_micros, confirmed_micros, is_late from invoices");
    return {
      transfers: new Map(
        [...transfers].map(([txHash, rows]) => {
          const row = rows.find(({ invoice_id }) => invoice_id !== null) ?? rows[0];
          return [
            txHash,
            {
              invoiceId: row?.invoice_id == null ? null : String(row.invoice_id),
              status: String(row?.status),
              rows: rows.length,
            },
          ];
        }),
      ),
      invoices: new Map(invoices.map((row) => [String(row.id), row])),
    };
  }

  #writeQuotes(of: InvoiceFact, atMs: number): void {
    const asked = storedQuotes(of, atMs, this.#variant);
    const now = asked.at(-1);
    if (now === undefined) throw new Error(`${of.id} asks for nothing`);
    const [row] = this.rows("select quotes from payment_methods where invoice_id = ?", of.id);
    const known: (StoredQuote & { readonly isRemainder?: boolean })[] = JSON.parse(String(row?.quotes ?? "[]"));
    const remainders = known.filter(({ isRemainder }) => isRemainder === true);
    const quotes = [...asked, ...remainders].toSorted((a, b) => a.askedFromMs - b.askedFromMs);
    this.rows(
      `update payment_methods set amount_units = ?, rate = ?, rate_at_ms = ?, quoted_at_ms = ?, quote_for_micros = ?, locked_until_ms = ?,
        quotes = ? where invoice_id = ?`,
      now.amountUnits,
      now.rate,
      atMs,
      now.askedFromMs,
      Number(now.forMicros),
      now.lockedUntilMs,
      JSON.stringify(quotes),
      of.id,
    );
  }

  #reserve(of: InvoiceFact, asked: Asked): Promise<unknown> {
    const { pair } = CHAINS.shared;
    const row = {
      ...pair,
      address: of.address,
      units: asked.units,
      priceUnits: asked.units,
      invoiceId: of.id,
      merchantId: MERCHANTS[of.merchant],
      heldUntilMs: heldUntilMs(of),
      releaseAfterMs: heldUntilMs(of),
      releasedAtMs: null,
      openUntilMs: of.expiresAtMs,
      createdAtMs: asked.atMs,
      rank: of.rank,
    };
    const [held] = this.rows(
      "select 1 from method_amounts where invoice_id = ? and units = ?",
      of.id,
      String(asked.units),
    );
    return held === undefined ? putAmount(this.#db, row).execute() : Promise.resolve();
  }

  async #apply(kind: History["kind"], of: LookAt): Promise<void> {
    const { cryptocurrency } = CHAINS[kind].pair;
    const transfers = of.sightings.map((each) => transferOf(cryptocurrency, each));
    const rate = of.sightings[0]?.transfer.sightRate ?? null;
    const look = { ...this.#look(kind, of.sightings), transfers, seen: [] };
    if (of.dieAt !== undefined && (await this.#dying(of.dieAt, of.atMs, look, rate))) return;
    done("look", await applyTransfers(this.#dependencies(of.atMs, rate), look));
  }

  #look(kind: History["kind"], sightings: readonly Sighting[]): Pick<Findings, "network" | "heights"> {
    const network = networkNamed(CHAINS[kind].pair.network);
    if (network === undefined) throw new Error("an unknown network");
    const tipHeight = Math.max(1, ...sightings.map(({ block }) => block?.height ?? 0));
    return { network, heights: { tipHeight, finalizedHeight: null } };
  }

  /** Applies the findings, and makes the watcher crash at the given storage call; returns whether it survived. */
  async #dying(dieAt: number, atMs: number, look: Findings, rate: string | null): Promise<boolean> {
    const { promise: death, resolve: die } = Promise.withResolvers<"dead">();
    this.#death = { calls: 0, dieAt, die: () => die("dead") };
    const outcome = await Promise.race([applyTransfers(this.#dependencies(atMs, rate), look), death]);
    this.#death = undefined;
    if (outcome === "dead") return false;
    done("look", outcome);
    return true;
  }

  async #call<T>(work: () => T): Promise<T> {
    const death = this.#death;
    if (death === undefined || ++death.calls !== death.dieAt) return work();
    if (death.dieAt % 2 === 0) work();
    death.die();
    return new Promise(() => {});
  }

  /** Runs SQL on the database directly, without the service; returns the rows. */
  rows(sql: string, ...params: (string | number | null)[]): Row[] {
    const statement = this.#prepared(sql);
    statement.setReturnArrays(false);
    return statement.all(...params) as Row[];
  }

  async #file(of: InvoiceFact): Promise<InvoiceFile> {
    const merchantId = MERCHANTS[of.merchant];
    const file = await readFile({ db: this.#db, sleep: instantSleep }, merchantId, of.id);
    if (!file.ok || file.value === undefined) throw new Error(`${of.id} cannot be read`);
    return file.value;
  }

  /** `rate`: null if none is fresh. */
  #dependencies(nowMs: number, rate: string | null) {
    const price = { usd: rate ?? "0", atMs: nowMs, sources: ["a", "b"] };
    const assets: Readonly<Record<string, typeof price>> = rate === null ? {} : { BTC: price, ETH: price };
    return {
      db: this.#db,
      nowMs,
      sleep: instantSleep,
      trail: SYSTEM_TRAIL,
      newOperationId: () => this.#newUlid(nowMs),
      table: async () => ({ assets, fiat: {} }),
      macKeys: MAC_KEYS,
      isWatched: () => true,
      hasSource: () => true,
      wakeWatcher: () => {},
      allocate: () => Promise.reject(new Error("nobody activates here")),
      allocateAmounts: allocatorsOf((text, ...params) => this.rows(text, ...params)),
      body: { macKeys: MAC_KEYS, publicUrl: "https://pay.example", nowMs },
    };
  }

  #newUlid(nowMs: number): string {
    this.#ulids++;
    return newUlid(
      nowMs,
      Uint8Array.from({ length: 16 }, (_, n) => (this.#ulids >> (5 * (n % 6))) & 31),
    );
  }
}

interface StoredQuote {
  readonly amountUnits: string;
  readonly rate: string;
  readonly forMicros: string;
  readonly askedFromMs: number;
  readonly lockedUntilMs: number;
}

/** The quotes requested until `atMs`, in the form stored with a method, oldest first. */
function storedQuotes(of: InvoiceFact, atMs: number, variant: AsOfVariant): readonly StoredQuote[] {
  const quotes: StoredQuote[] = [];
  for (const asked of of.asked.filter((each) => each.atMs <= atMs)) {
    const lockedUntilMs =
      asked.atMs + (variant.lockMs ?? Math.min(of.lockSeconds * 1_000, of.expiresAtMs - asked.atMs));
    const { rate } = asked;
    const amounts = { amountUnits: String(asked.units), forMicros: String(asked.forMicros) };
    const last = quotes.at(-1);
    const isSame = last?.amountUnits === amounts.amountUnits && last.forMicros === amounts.forMicros;
    if (isSame && variant.redatesQuotes)
      quotes[quotes.length - 1] = { ...last, askedFromMs: asked.atMs, lockedUntilMs };
    else if (isSame && asked.atMs <= last.lockedUntilMs + 120_000)
      quotes[quotes.length - 1] = { ...last, lockedUntilMs };
    else quotes.push({ ...amounts, rate, askedFromMs: asked.atMs, lockedUntilMs });
  }
  return quotes;
}

function done(what: string, answer: Result<unknown, { readonly code: string }>): void {
  if (!answer.ok) throw new Error(`${what}: ${answer.error.code}`);
}

function transferOf(cryptocurrency: string, { transfer, block }: Sighting): Transfer {
  const { txHash, address: toAddress, units: amountUnits, isOwnMoney } = transfer;
  return {
    cryptocurrency,
    txHash,
    outputIndex: "0",
    toAddress,
    amountUnits,
    spends: [],
    raw: "{}",
    fromAddress: isOwnMoney ? toAddress : null,
    block: block === null ? null : { height: block.height, hash: block.hash, timeMs: block.timeMs },
  };
}
