// Activation: lock the rate, then allocate an address (xpub) or reserve an amount (direct). Both are idempotent by invoice: the allocator
// answers the same address for the same invoice, and a reservation stands in the batch of the invoice or not at all (decisions 4).
import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { formatUnits } from "../lib/money.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { RateTable } from "../rates/quote.ts";
import type { AllocateAnswer, AllocateRequest } from "../wallets/allocations.ts";
import type { MacKeys } from "../wallets/row-mac.ts";
import { assertWalletUsable, noteAllocation, SALTS_READ, warnOfGap } from "../wallets/store.ts";
import type { Wallet } from "../wallets/wallet.ts";
import { insertEvent } from "../webhooks/store.ts";
import { mayHold, nextSalt, randomSaltAfter, saltCapacity, saltedUnits } from "./direct-amount.ts";
import type { Invoice, PaymentMethod } from "./invoice.ts";
import {
  activeMethod,
  type MethodQuote,
  type PayableContext,
  pairOf,
  quoteMethod,
  walletRefusal,
} from "./payment-method.ts";
import { insertReservation, putMethod, selectFreeSalt, selectHolding } from "./store.ts";

/** decisions 3: how many unpaid addresses of a key whoever registered it later may hold. */
const SHARED_KEY_UNPAID = 5;

/** A wallet with what `selectPayableWallets` read beside it. */
export interface PayableWallet extends Wallet {
  readonly isKeyShared: boolean;
  readonly paidAddresses: number;
  /** The first taken salts of the price asked about, ascending. */
  readonly takenSalts: readonly number[];
  readonly maxSalt: number | null;
}

export interface ActivationEffects {
  readonly db: Db;
  allocate(keyHash: string, request: AllocateRequest): Promise<AllocateAnswer>;
  /** Asked only when there is something to quote; one request asks once. */
  table(): Promise<RateTable>;
  readonly macKeys: MacKeys;
  readonly isWatched: (network: string) => boolean;
  /** In [0, 1). */
  random(): number;
  readonly nowMs: number;
}

export interface ActivationRequest {
  readonly invoice: Pick<Invoice, "id" | "merchantId" | "amountMicros" | "currency" | "monitorUntilMs">;
  readonly wallet: PayableWallet;
  readonly operationId: string;
  /** Salts of this price that lost against another writer in this request. */
  readonly lostSalts: readonly number[];
}

export interface Activation {
  readonly method: PaymentMethod;
  /** The number of the amount, for the next try after a collision; undefined for an own address. */
  readonly salt: number | undefined;
  readonly statements: readonly BatchItem<"sqlite">[];
}

/** Refuses with the failure that `POST payment-methods` answers; at creation its code is the method's reason. */
export async function activate(
  fx: ActivationEffects,
  request: ActivationRequest,
): Promise<Result<Activation, Failure>> {
  const { invoice, wallet } = request;
  const context: PayableContext = { amountMicros: invoice.amountMicros, macKeys: fx.macKeys, isWatched: fx.isWatched };
  const refusal = walletRefusal(wallet, context);
  if (refusal !== undefined) return err(refusal);
  const quote = quoteMethod({ invoice, wallet, table: await fx.table(), nowMs: fx.nowMs });
  if (!quote.ok) return quote;
  return wallet.walletType === "XPUB_WALLET"
    ? withAddress(fx, request, quote.value)
    : withAmount(fx, request, quote.value);
}

async function withAddress(
  fx: ActivationEffects,
  request: ActivationRequest,
  quote: MethodQuote,
): Promise<Result<Activation, Failure>> {
  const { invoice, wallet, operationId } = request;
  const { keyHash, xpub, derivationPath, network } = wallet;
  if (keyHash === null || xpub === null || derivationPath === null)
    throw new Error(`an xpub wallet without a key: ${wallet.id}`);
  const cap = wallet.isKeyShared ? { maxUnpaid: SHARED_KEY_UNPAID, paid: wallet.paidAddresses } : null;
  const allocated = await fx.allocate(keyHash, {
    invoiceId: invoice.id,
    merchantId: invoice.merchantId,
    network,
    xpub,
    derivationPath,
    cap,
  });
  if (allocated.kind === "key_shared") return err({ code: "KEY_SHARED" });
  const { index, address } = allocated;
  const destination = { address, addressIndex: index, amountUnits: quote.amountUnits };
  const method = activeMethod({ ...fx, invoice, wallet, quote, destination });
  const warning = {
    eventId: derivedId("evt", operationId, 1_000 + index),
    merchantId: invoice.merchantId,
    walletId: wallet.id,
  };
  return ok({
    method,
    salt: undefined,
    statements: [
      assertWalletUsable(fx.db, wallet.id),
      noteAllocation(fx.db, wallet.id, { index, nowMs: fx.nowMs }),
      warnOfGap(fx.db, { ...warning, nowMs: fx.nowMs }),
      putMethod(fx.db, method),
    ],
  });
}

async function withAmount(
  fx: ActivationEffects,
  request: ActivationRequest,
  quote: MethodQuote,
): Promise<Result<Activation, Failure>> {
  const { invoice, wallet, lostSalts } = request;
  const { address, network, cryptocurrency } = wallet;
  const priceUnits = quote.amountUnits;
  if (address === null || priceUnits === null)
    throw new Error(`a direct method without address or amount: ${wallet.id}`);
  const picked = await pickAmount(fx, {
    invoice,
    at: { network, cryptocurrency, address },
    taken: wallet,
    priceUnits,
    lostSalts,
  });
  if (picked === undefined) return err({ code: "AMOUNTS_EXHAUSTED" });
  const destination = { address, addressIndex: null, amountUnits: picked.units };
  const method = activeMethod({ ...fx, invoice, wallet, quote, destination });
  return ok({
    method,
    salt: picked.salt,
    statements: [
      assertWalletUsable(fx.db, wallet.id),
      picked.reservation,
      ...(picked.isLow ? [warnOfAmounts(fx, request, priceUnits)] : []),
      putMethod(fx.db, method),
    ],
  });
}

/** 80 % of the amounts of one price are taken (chains.md 4): told once, by whoever takes the one that reaches the mark. */
function amountsLowAt(capacity: number): number {
  return Math.ceil(capacity * 0.8) - 1;
}

function warnOfAmounts(fx: ActivationEffects, request: ActivationRequest, priceUnits: bigint): BatchItem<"sqlite"> {
  const { invoice, wallet, operationId } = request;
  const { cryptocurrency, network, address } = wallet;
  const amount = formatUnits(priceUnits, pairOf(wallet).asset.decimals);
  return insertEvent(fx.db, {
    id: derivedId("evt", `${operationId}|${cryptocurrency}|${network}`, 2_000),
    merchantId: invoice.merchantId,
    type: "wallet.amounts_low",
    invoiceId: null,
    sequence: null,
    data: JSON.stringify({ walletId: wallet.id, cryptocurrency, network, address, amount }),
    createdAtMs: fx.nowMs,
  });
}

export interface AmountRequest {
  readonly invoice: Pick<Invoice, "id" | "merchantId" | "monitorUntilMs">;
  readonly at: { readonly network: string; readonly cryptocurrency: string; readonly address: string };
  readonly taken: Pick<PayableWallet, "takenSalts" | "maxSalt">;
  readonly priceUnits: bigint;
  readonly lostSalts: readonly number[];
}

/** A free amount at this price and the row that reserves it; undefined when none is free, or this merchant holds its half already. */
export async function pickAmount(fx: Pick<ActivationEffects, "db" | "random" | "nowMs">, request: AmountRequest) {
  const { invoice, at, priceUnits } = request;
  const { asset } = pairOf(at);
  const capacity = saltCapacity(priceUnits, asset);
  const salt = await freeSalt(fx, request, capacity);
  if (salt === undefined) return undefined;
  const units = saltedUnits(priceUnits, asset, salt);
  const reservation = insertReservation(fx.db, {
    ...at,
    units,
    priceUnits,
    salt,
    invoiceId: invoice.id,
    merchantId: invoice.merchantId,
    heldUntilMs: invoice.monitorUntilMs,
    createdAtMs: fx.nowMs,
  });
  return { salt, units, reservation, isLow: capacity > 1 && salt === amountsLowAt(capacity) };
}

/** The smallest free of those read, the first time; after a collision a random free one of the next 64. */
async function freeSalt(
  fx: Pick<ActivationEffects, "db" | "random">,
  request: AmountRequest,
  capacity: number,
): Promise<number | undefined> {
  const { taken, lostSalts, invoice } = request;
  const known = [...new Set([...taken.takenSalts, ...lostSalts])].sort((a, b) => a - b);
  const last = lostSalts.at(-1);
  const price = { ...request.at, priceUnits: request.priceUnits };
  const drawn =
    last === undefined ? undefined : randomSaltAfter({ salt: last, takenSalts: known, capacity, random: fx.random() });
  const salt =
    drawn ??
    nextSalt({ takenSalts: known.slice(0, SALTS_READ), maxTakenSalt: taken.maxSalt ?? known.at(-1), capacity });
  const free = salt ?? (await selectFreeSalt(fx.db, { ...price, capacity }))[0]?.salt;
  // While fewer than half of a price's amounts were ever handed out, nobody can hold more than half: only then is the count worth a read.
  if (free === undefined || Math.max(free, taken.maxSalt ?? 0) * 2 < capacity) return free;
  const [holding] = await selectHolding(fx.db, { ...price, merchantId: invoice.merchantId });
  if (holding === undefined) return free;
  return mayHold({ isShared: holding.isShared, ownCount: holding.ownCount, capacity }) ? free : undefined;
}
