// A merchant with one direct and one xpub wallet, and clients that run the real operations on them. The campaigns over invoices and wallets share
// this file. Each route is reduced to a few lines: like the Worker's route, it reads, and then passes the operation to `runOnce`.

import { type Pair, pairOf } from "../../../src/chains/registry/pair.ts";
import { AmountAllocations } from "../../../src/commerce/amounts/amount-allocations.ts";
import { type AmountPlace, placeName } from "../../../src/commerce/amounts/amount-place.ts";
import { fileOf } from "../../../src/commerce/invoice-records/invoice.ts";
import { selectInvoiceRow } from "../../../src/commerce/invoice-records/store.ts";
import { addPaymentMethod, type PickDependencies } from "../../../src/commerce/invoices/add-payment-method.ts";
import {
  createFacts,
  createInvoice,
  createReads,
  type NewInvoice,
} from "../../../src/commerce/invoices/create-invoice.ts";
import { type MacKeys, signRow } from "../../../src/commerce/wallet-records/row-mac.ts";
import { selectLiveWallet } from "../../../src/commerce/wallet-records/store.ts";
import { type Wallet, walletMacSubject } from "../../../src/commerce/wallet-records/wallet.ts";
import { Allocations } from "../../../src/commerce/wallets/allocations.ts";
import { deleteWallet } from "../../../src/commerce/wallets/delete-wallet.ts";
import { parseExtendedKey } from "../../../src/commerce/wallets/extended-key.ts";
import type { MerchantId, WalletId } from "../../../src/lib/ids.ts";
import { SECOND_MS } from "../../../src/lib/time.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { faultKind, readWithRetry } from "../../../src/platform/db/retry.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import type { Failure } from "../../../src/platform/failures.ts";
import { KeyReservations } from "../../../src/platform/idempotency/key-reservations.ts";
import {
  type OnceAnswer,
  type OnceDependencies,
  runOnce,
  type Work,
} from "../../../src/platform/idempotency/run-once.ts";
import type { RateTable } from "../../../src/rates/quote.ts";
import { recountProblem, recountTables } from "../../support/report-recount.ts";
import { type Attempt, insist } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Client, Verdict, World } from "../engine/world.ts";

export const MERCHANT: MerchantId = "mer_00000000000000000000000000";
export const DIRECT: Pair = { cryptocurrency: "USDT", network: "ETH" };
export const XPUB: Pair = { cryptocurrency: "BTC", network: "BTC" };
/** The address and coin for which the direct wallet's amounts must be distinct. */
export const DIRECT_PLACE: AmountPlace = { ...DIRECT, address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" };
export const WALLETS: readonly (Pair & { readonly id: WalletId })[] = [
  { ...DIRECT, id: "wal_00000000000000000000000001" },
  { ...XPUB, id: "wal_00000000000000000000000002" },
];

const START_MS = 1_799_999_000_000;
export const MAC_KEYS: MacKeys = [{ id: "test", secret: new Uint8Array(32).fill(7) }];
// BIP84, "Test vectors": account 0 of the mnemonic "abandon ... about".
const ZPUB =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";

const PATH = "m/84'/0'/0'";
const KEY_HASH = (() => {
  const key = parseExtendedKey({ network: pairOf(XPUB).network, xpub: ZPUB, derivationPath: PATH });
  if (!key.ok) throw new Error(key.error.code);
  return key.value.keyHash;
})();

/** Stores the merchant and its wallets before the first schedule of the lab. */
export async function stockShop(lab: Lab): Promise<void> {
  const db = lab.db(async (_, work) => work());
  await db.insert(merchants).values({ id: MERCHANT, name: "Shop", createdAtMs: START_MS, updatedAtMs: START_MS });
  for (const { id, ...pair } of WALLETS) await db.insert(wallets).values(walletOf(id, pair));
  reservationsOf(lab);
  allocatorOf(lab, KEY_HASH);
  amountsAt(lab, DIRECT_PLACE);
}

export function walletOf(id: WalletId, pair: Pair): Wallet {
  const isXpub = pair.network === "BTC";
  const unsigned = {
    id,
    merchantId: MERCHANT,
    walletType: isXpub ? "XPUB_WALLET" : "DIRECT_WALLET",
    ...pair,
    address: isXpub ? null : DIRECT_PLACE.address,
    xpub: isXpub ? ZPUB : null,
    derivationPath: isXpub ? PATH : null,
    scheme: isXpub ? "BIP84" : null,
    keyHash: isXpub ? KEY_HASH : null,
    requiredConfirmations: 1,
    isEnabled: true,
    lastUsedIndex: isXpub ? 0 : null,
    nextIndex: isXpub ? 0 : null,
    gap: isXpub ? 0 : null,
    frozenAtMs: null,
    createdAtMs: START_MS,
    updatedAtMs: START_MS,
    usableFromMs: 0,
    deletedAtMs: null,
  } as const;
  return { ...unsigned, ...signRow(MAC_KEYS, walletMacSubject(unsigned)) };
}

/** The dependencies of one request: the clock of `once` keeps running, while `operation` has the time at which the request began. */
interface ShopDependencies {
  readonly once: OnceDependencies;
  readonly operation: PickDependencies;
}

export function shopDependencies(lab: Lab, world: World, client: Client): ShopDependencies {
  const effect = world.effectOf(client);
  const reservations = () => reservationsOf(lab);
  const shared = { db: lab.db(effect), sleep: world.sleepOf(client), newOperationId: () => world.newUlid() };
  const { nowMs } = world;
  const rates = ratesAt(nowMs);
  return {
    once: {
      ...shared,
      keys: {
        reserve: (...args) => effect("reserve", () => reservations().reserve(...args)),
        takeOver: (...args) => effect("take over", () => reservations().takeOver(...args)),
        endLease: (...args) => effect("end lease", () => reservations().endLease(...args)),
      },
      nowMs: () => world.nowMs,
      background: () => {},
    },
    operation: {
      ...shared,
      nowMs,
      trail: SYSTEM_TRAIL,
      table: async () => rates,
      macKeys: MAC_KEYS,
      isWatched: () => true,
      hasSource: () => true,
      wakeWatcher: () => {},
      allocate: (keyHash, request) => effect("allocate", () => allocatorOf(lab, keyHash).allocate(request)),
      allocateAmounts: (place, requests) => effect("allocate amounts", () => amountsAt(lab, place).allocate(requests)),
      body: { macKeys: MAC_KEYS, publicUrl: "https://pay.example", nowMs },
    },
  };
}

function reservationsOf(lab: Lab): KeyReservations {
  return lab.object("keys", (storage) => new KeyReservations(storage, () => lab.world.newUlid()));
}

export function allocatorOf(lab: Lab, keyHash: string): Allocations {
  return lab.object(`allocator ${keyHash}`, (storage) => new Allocations(storage, keyHash));
}

/** The amount allocator of one address and coin. */
export function amountsAt(lab: Lab, place: AmountPlace): AmountAllocations {
  return lab.object(amountsName(place), (storage) => new AmountAllocations(storage, place));
}

export const amountsName = (place: AmountPlace) => `amounts ${placeName(place)}`;

/** Two sources agree on round prices, so that amounts are easy to read and invoices with the same price collide. */
function ratesAt(nowMs: number): RateTable {
  const of = (usd: string) => ({ usd, atMs: nowMs, sources: ["a", "b"] });
  return { assets: { USDT: of("1"), BTC: of("50000"), ETH: of("2000") }, fiat: {} };
}

/** The final outcome of a request: the stored bytes, or a refusal that a repeat does not change. */
export type Outcome =
  | { readonly kind: "answer"; readonly status: number; readonly body: string }
  | { readonly kind: "refused"; readonly failure: Failure };

export interface Shop {
  readonly lab: Lab;
  readonly world: World;
  readonly bugs: unknown[];
}

/** Some attempts are refused only at the end, for example because a rate goes stale meanwhile; the next attempt continues the same operation. */
function refusedAfter(work: Work): Work {
  return async (...args) => {
    await work(...args);
    return { kind: "refused", failure: { code: "RATE_UNAVAILABLE" } };
  };
}

/** A client of DELETE /wallets/{id}. It has no key and just repeats its request. */
export function sendDelete(shop: Shop, walletId: WalletId, onDone: (outcome: Outcome) => void): void {
  const { lab, world, bugs } = shop;
  insist<Outcome>({
    world,
    attempt: async (client) => {
      const deps = {
        ...shopDependencies(lab, world, client).operation,
        body: { macKeys: MAC_KEYS, watchedNetworks: new Set<string>(), nowMs: world.nowMs },
        mailer: { post: async () => {} },
        publicUrl: "https://pay.example",
        audience: { merchantName: "Shop", author: "a client", readers: [] },
      };
      const read = await readWithRetry(deps.sleep, async () => selectLiveWallet(deps.db, MERCHANT, walletId));
      if (!read.ok) return outcomeOf({ kind: "refused", failure: read.error });
      const deleted = await deleteWallet(deps, { merchantId: MERCHANT, walletId, read: read.value[0] });
      if (!deleted.ok) return outcomeOf({ kind: "refused", failure: deleted.error });
      return { kind: "done", value: { kind: "answer", status: 200, body: deleted.value.id } };
    },
    onDone,
    onBug: (error) => bugs.push(error),
    isFault: (error) => faultKind(error) !== "other",
  });
}

/** A client that repeats one request until its outcome is final. */
export function send(
  shop: Shop,
  key: string,
  work: (deps: ShopDependencies) => Promise<Work | Failure>,
  onDone: (outcome: Outcome) => void,
): void {
  const { lab, world, bugs } = shop;
  insist<Outcome>({
    world,
    attempt: async (client) => {
      const deps = shopDependencies(lab, world, client);
      const prepared = await work(deps);
      if (typeof prepared !== "function") return outcomeOf({ kind: "refused", failure: prepared });
      const request = { merchantId: MERCHANT, key: { hash: key, fingerprint: "v1" } };
      const decided = world.random() < 0.25 ? refusedAfter(prepared) : prepared;
      return outcomeOf(await runOnce(deps.once, request, decided));
    },
    onDone,
    onBug: (error) => bugs.push(error),
    isFault: (error) => faultKind(error) !== "other",
  });
}

export function outcomeOf(answer: OnceAnswer): Attempt<Outcome> {
  if (answer.kind === "answer") {
    return { kind: "done", value: { kind: "answer", status: answer.status, body: answer.body } };
  }
  switch (answer.failure.code) {
    case "OPERATION_IN_PROGRESS":
      return { kind: "again", afterMs: answer.failure.retryAfterSeconds * SECOND_MS };
    case "STORAGE_UNAVAILABLE":
    case "CONTENTION":
    case "RATE_UNAVAILABLE":
      return { kind: "again", afterMs: SECOND_MS };
    default:
      return { kind: "done", value: answer };
  }
}

/** POST /invoices: first the reads that the Worker sends together with the idempotency key, then the operation. */
export function creating(invoice: NewInvoice) {
  return async ({ operation: deps }: ShopDependencies): Promise<Work | Failure> => {
    const read = await readWithRetry(deps.sleep, async () =>
      batch(deps.db, [deps.db.select().from(merchants), ...createReads(deps.db, MERCHANT, invoice)]),
    );
    if (!read.ok) return read.error;
    const [[merchant], ...found] = read.value;
    if (merchant === undefined) throw new Error("no merchant");
    return createInvoice(deps, { merchant, origin: "API", callers: [], invoice, facts: createFacts(found) });
  };
}

/** POST /invoices/{id}/payment-methods. */
export function picking(invoiceId: string, pair: Pair) {
  return async ({ operation: deps }: ShopDependencies): Promise<Work | Failure> => {
    const read = await readWithRetry(deps.sleep, async () => selectInvoiceRow(deps.db, MERCHANT, invoiceId));
    if (!read.ok) return read.error;
    const [row] = read.value;
    if (row === undefined) return { code: "INVOICE_NOT_FOUND" };
    return addPaymentMethod(deps, { pair, isFromPublicKey: false, callers: [], file: fileOf(row) });
  };
}

/** Checks the shop's rows after any history. At most `mostAllocated` operations may have requested an address, and each of them only one. */
export function ledgerProblem(lab: Lab, mostAllocated: number): Verdict {
  const allocations = lab.storageOf(`allocator ${KEY_HASH}`).sql.exec("select count(*) as n from allocations");
  const allocated = Number(allocations.toArray()[0]?.n);
  if (allocated > mostAllocated) return `${allocated} addresses handed out to ${mostAllocated} operations`;
  const [facts] = lab.rows(`select
    (select count(*) from assertions) as assertions,
    (select active_invoices + public_invoices from merchants) as counted,
    (select count(*) from invoices where status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')) as active,
    (select count(*) from invoices invoice where event_sequence <>
      (select count(*) from events where invoice_id = invoice.id) or event_sequence <>
      (select max(sequence) from events where invoice_id = invoice.id)) as gappy,
    (select count(*) from payment_methods where status = 'ACTIVE' and address_index is not null) as addresses,
    (select count(distinct address_index) from payment_methods where status = 'ACTIVE') as indexes,
    (select max(address_index) from payment_methods where status = 'ACTIVE') as highest,
    (select next_index from wallets where wallet_type = 'XPUB_WALLET') as next,
    (select gap from wallets where wallet_type = 'XPUB_WALLET') as gap,
    (select count(*) from method_amounts) as reserved,
    (select count(*) from payment_methods method where status = 'ACTIVE' and wallet_type = 'DIRECT_WALLET') as direct,
    (select count(*) from payment_methods method join method_amounts held on held.invoice_id = method.invoice_id
      and held.units = method.amount_units and held.address = method.address where method.status = 'ACTIVE') as matched,
    (select count(*) from payment_methods method where status = 'ACTIVE' and not exists
      (select 1 from events where invoice_id = method.invoice_id and type = 'payment.created')) as untold,
    (select count(*) from invoices) + (select count(*) from customers) + (select count(*) from wallets where deleted_at_ms is not null)
      as changed,
    (select count(distinct action || target) from audit_events
      where action in ('invoice.created', 'customer.created', 'wallet.deleted')) as audited,
    (select count(*) from audit_events where action in ('invoice.created', 'customer.created', 'wallet.deleted')) as entries,
    (select count(*) from payment_methods method where status = 'ACTIVE' and not exists (select 1 from audit_events
      where target = method.invoice_id and (action = 'invoice.payment_method_activated'
        and json_extract(after, '$.network') = method.network or action = 'invoice.created'
        and json_extract(after, '$.paymentMethods') like '%' || method.cryptocurrency || '_' || method.network || '%'))) as unaudited`);
  if (facts === undefined) throw new Error("no facts");
  const { counted, active, addresses, indexes, highest, next, gap, reserved, direct, matched } = facts;
  if (facts.assertions !== 0) return "an assertion was stored";
  if (counted !== active) return `${active} active invoices are counted as ${counted}`;
  if (facts.gappy !== 0) return "an invoice's events are not numbered 1 to n";
  if (facts.changed !== facts.audited || facts.audited !== facts.entries || facts.unaudited !== 0)
    return `${facts.changed} changes with ${facts.entries} entries of ${facts.audited}, ${facts.unaudited} methods without`;
  if (facts.untold !== 0) return "a method was activated and nobody told";
  if (addresses !== indexes) return `${addresses} methods share ${indexes} addresses`;
  if (highest !== null && next !== Number(highest) + 1) return `the next index is ${next} after ${highest}`;
  if (gap !== addresses) return `a gap of ${gap} with ${addresses} unpaid addresses`;
  if (reserved !== direct || matched !== direct)
    return `${reserved} amounts reserved for ${direct} methods, ${matched} match`;
  return recountProblem(recountTables((sql) => lab.rows(sql))) ?? amountProblem(lab, mostAllocated);
}

/** Every amount with a row in D1 belongs to the same invoice in its allocator, which gave out no more amounts than were requested. */
function amountProblem(lab: Lab, mostAllocated: number): Verdict {
  const rows = lab.storageOf(amountsName(DIRECT_PLACE)).sql.exec("select units, invoice_id from amounts").toArray();
  if (rows.length > mostAllocated) return `${rows.length} amounts given to ${mostAllocated} operations`;
  const given = new Set(rows.map((row) => `${row.invoice_id} ${BigInt(String(row.units))}`));
  const written = lab.rows("select units, invoice_id from method_amounts");
  const strays = written.filter((row) => !given.has(`${row.invoice_id} ${row.units}`));
  return strays.length === 0 ? undefined : `${strays.length} amounts asked for that the allocator has not given`;
}
