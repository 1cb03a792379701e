// Activation: lock the rate, then allocate an address (xpub) or reserve an amount (direct). Both are idempotent by invoice: the allocator
// answers the same address for the same invoice, and a reservation stands in the batch of the invoice or not at all (decisions 4).
import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { RateTable } from "../rates/quote.ts";
import type { AllocateAnswer, AllocateRequest } from "../wallets/allocations.ts";
import type { PublicHold } from "../wallets/public-hold.ts";
import type { MacKeys } from "../wallets/row-mac.ts";
import { assertWalletUsable, noteAllocation, warnOfGap } from "../wallets/store.ts";
import type { Wallet } from "../wallets/wallet.ts";
import { beginWatch } from "../watchers/store.ts";
import type { Invoice, PaymentMethod } from "./invoice.ts";
import {
  activeMethod,
  type MethodQuote,
  type PayableContext,
  pairKey,
  quoteMethod,
  walletRefusal,
  withRemainder,
} from "./payment-method.ts";
import { type AmountFacts, reserveAmount } from "./reserve-amount.ts";
import { reserveRest } from "./reserve-rest.ts";
import { restUnits } from "./rest.ts";
import { putMethod } from "./store.ts";

/** decisions 3: how many unpaid addresses of a key whoever registered it later may hold. */
const SHARED_KEY_UNPAID = 5;

/** A wallet with what `selectPayableWallets` read beside it. */
export interface PayableWallet extends Wallet, AmountFacts {
  readonly isKeyShared: boolean;
  readonly paidAddresses: number;
}

export interface ActivationEffects {
  readonly db: Db;
  allocate(keyHash: string, request: AllocateRequest): Promise<AllocateAnswer>;
  /** Asked only when there is something to quote; one request asks once. */
  table(): Promise<RateTable>;
  readonly macKeys: MacKeys;
  readonly isWatched: (network: string) => boolean;
  /** Whether a source of the network's chain is configured, so that there is somebody to watch it. */
  readonly hasSource: (network: string) => boolean;
  /** Has a network looked at soon, in the background: an address of it is about to be shown. */
  readonly wakeWatcher: (network: string) => void;
  /** In [0, 1). */
  random(): number;
  readonly nowMs: number;
}

export interface ActivationRequest {
  readonly invoice: Pick<
    Invoice,
    | "id"
    | "merchantId"
    | "amountMicros"
    | "currency"
    | "monitorUntilMs"
    | "receivedMicros"
    | "underpaidToleranceMicros"
    | "isFromPublicKey"
    | "expiresAtMs"
    | "rateLockSeconds"
  >;
  readonly wallet: PayableWallet;
  readonly operationId: string;
  /** Salts of this price that lost against another writer in this request. */
  readonly lostSalts: readonly number[];
  /** Where a public key asks for an address of its own. */
  readonly publicHold: PublicHold | null;
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
  const { macKeys, isWatched, nowMs } = fx;
  const context: PayableContext = { amountMicros: invoice.amountMicros, macKeys, isWatched, nowMs };
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
  const { invoice, wallet, operationId, publicHold } = request;
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
    publicHold,
  });
  if (allocated.kind === "key_shared") return err({ code: "KEY_SHARED" });
  if (allocated.kind === "public_limit") return err({ code: "PUBLIC_ADDRESS_LIMIT" });
  const { index, address } = allocated;
  const destination = { address, addressIndex: index, amountUnits: quote.amountUnits };
  const method = activeMethod({ ...fx, invoice, wallet, quote, destination });
  const warning = {
    eventId: derivedId("evt", `${operationId}|${pairKey(wallet)}`, 1_000 + index),
    merchantId: invoice.merchantId,
    walletId: wallet.id,
  };
  return ok({
    method,
    salt: undefined,
    statements: [
      assertWalletUsable(fx.db, wallet.id, fx.nowMs),
      ...watching(fx, network),
      noteAllocation(fx.db, wallet.id, { index, nowMs: fx.nowMs }),
      ...warnOfGap(fx.db, { ...warning, nowMs: fx.nowMs }),
      putMethod(fx.db, method),
    ],
  });
}

async function withAmount(
  fx: ActivationEffects,
  request: ActivationRequest,
  quote: MethodQuote,
): Promise<Result<Activation, Failure>> {
  const { invoice, wallet, operationId, lostSalts } = request;
  const { address, network, cryptocurrency } = wallet;
  const priceUnits = quote.amountUnits;
  if (address === null || priceUnits === null)
    throw new Error(`a direct method without address or amount: ${wallet.id}`);
  const at = { network, cryptocurrency, address };
  const reserved = await reserveAmount(fx, {
    invoice,
    walletId: wallet.id,
    operationId,
    at,
    taken: wallet,
    held: [],
    priceUnits,
    lostSalts,
  });
  if (reserved === undefined) return err({ code: "AMOUNTS_EXHAUSTED" });
  const destination = { address, addressIndex: null, amountUnits: reserved.units };
  const plain = activeMethod({ ...fx, invoice, wallet, quote, destination });
  const dueUnits = restUnits(plain, invoice, invoice.receivedMicros);
  // A part was paid another way: what is asked is the rest, and an amount that nobody reserved may be somebody else's.
  const own = { ...at, units: reserved.units, priceUnits, salt: reserved.salt ?? 0, invoiceId: invoice.id };
  const held = [{ ...own, merchantId: invoice.merchantId, heldUntilMs: invoice.monitorUntilMs, createdAtMs: fx.nowMs }];
  const rest =
    dueUnits === null
      ? undefined
      : await reserveRest(fx, {
          invoice,
          method: { ...plain, address },
          dueUnits,
          held,
          operationId: `${operationId}|rest`,
          lostSalts,
        });
  if (dueUnits !== null && rest === undefined) return err({ code: "AMOUNTS_EXHAUSTED" });
  const restMicros = invoice.amountMicros - invoice.receivedMicros;
  const method =
    rest === undefined
      ? plain
      : withRemainder(plain, {
          remainderUnits: rest.units,
          forMicros: restMicros,
          nowMs: fx.nowMs,
          isUsed: () => false,
        });
  return ok({
    method,
    salt: reserved.salt,
    statements: [
      assertWalletUsable(fx.db, wallet.id, fx.nowMs),
      ...watching(fx, network),
      ...reserved.statements,
      ...(rest?.statements ?? []),
      putMethod(fx.db, method),
    ],
  });
}

function watching(fx: ActivationEffects, network: string): readonly BatchItem<"sqlite">[] {
  return fx.hasSource(network) ? [beginWatch(fx.db, network, fx.nowMs)] : [];
}
