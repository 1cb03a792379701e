// Activates a payment method: locks the rate, then allocates an address (xpub) or reserves an amount (direct). Both are idempotent per invoice: the
// allocators give the same address, and the same amount for the same price, to the same invoice (decisions 4).

import { pairKey } from "../../chains/registry/pair.ts";
import { BANK_CODES, FIAT_CODES } from "../../lib/fiat-codes.ts";
import { derivedId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import type { RateTable } from "../../rates/quote.ts";
import type { AmountPlace } from "../amounts/amount-place.ts";
import type { AmountAnswer, AmountRequest } from "../amounts/amount-request.ts";
import { lifetimeRefusal, publicPart } from "../amounts/holding.ts";
import { beginWatch } from "../cursors/store.ts";
import type { Invoice, PaymentMethod } from "../invoice-records/invoice.ts";
import { putMethod } from "../invoice-records/store.ts";
import type { Sharing } from "../ranks/rank.ts";
import type { MacKeys } from "../wallet-records/row-mac.ts";
import { assertWalletUsable, noteAllocation, warnOfGap } from "../wallet-records/store.ts";
import type { Wallet } from "../wallet-records/wallet.ts";
import type { AllocateAnswer, AllocateRequest } from "../wallets/allocations.ts";
import type { PublicHold } from "../wallets/public-hold.ts";
import {
  activeMethod,
  type MethodQuote,
  type PayableContext,
  quoteMethod,
  walletRefusal,
  withRemainder,
} from "./payment-method.ts";
import { reserveAmount } from "./reserve-amount.ts";
import { reserveRest } from "./reserve-rest.ts";
import { restUnits } from "./rest.ts";
import { printTerms } from "./shown-terms.ts";

/** A wallet with the other columns of `selectPayableWallets`. */
export interface PayableWallet extends Wallet, Sharing {
  /** For an extended key: whether another merchant uses it too, while this merchant has no proof. */
  readonly isKeyShared: boolean;
  /** For a shared key: how many of the merchant's addresses derived from it received money. */
  readonly paidAddresses: number;
  /** Whether an operator has paused the wallet's network. */
  readonly isPaused: boolean;
}

export interface ActivationDependencies {
  readonly db: Db;
  allocate(keyHash: string, request: AllocateRequest): Promise<AllocateAnswer>;
  allocateAmounts(place: AmountPlace, requests: readonly AmountRequest[]): Promise<readonly AmountAnswer[]>;
  /** Called only when there is something to quote. Reads the rates at most once per request. */
  table(): Promise<RateTable>;
  readonly macKeys: MacKeys;
  readonly isWatched: (network: string) => boolean;
  /** Whether a source for the network's chain is configured, so that it can be watched. */
  readonly hasSource: (network: string) => boolean;
  /** Wakes the network's watcher in the background, because an address on the network is about to be shown. */
  readonly wakeWatcher: (network: string) => void;
  readonly nowMs: number;
}

interface ActivationRequest {
  readonly invoice: Invoice;
  readonly wallet: PayableWallet;
  readonly operationId: string;
  /** Set if a browser asks for an address of an extended key. */
  readonly publicHold: PublicHold | null;
}

export interface Activation {
  readonly method: PaymentMethod;
  readonly statements: readonly Write[];
}

/**
 * Why an invoice in the currency could not be paid; undefined if it can, or if the reason is unknown. Reads rates only for a currency for which no
 * central bank publishes one, so that creating other invoices needs no rates (chains.md 6).
 */
export async function currencyRefusal(
  deps: Pick<ActivationDependencies, "table">,
  currency: string,
): Promise<Failure | undefined> {
  if (BANK_CODES.includes(currency) || !FIAT_CODES.includes(currency)) return undefined;
  const reason = (await deps.table()).unpriced?.[currency];
  return reason && { code: "CURRENCY_NOT_PRICED", currency, isDisputed: reason === "SOURCES_APART" };
}

/**
 * Activates a wallet for an invoice. A refusal is what `POST payment-methods` responds with; when an invoice is created, its code becomes the
 * method's reason.
 */
export async function activate(
  deps: ActivationDependencies,
  request: ActivationRequest,
): Promise<Result<Activation, Failure>> {
  const { invoice, wallet } = request;
  const { macKeys, isWatched, nowMs } = deps;
  const context: PayableContext = { amountMicros: invoice.amountMicros, macKeys, isWatched, nowMs };
  const refusal = walletRefusal(wallet, context);
  if (refusal !== undefined) return err(refusal);
  const quote = quoteMethod({ invoice, wallet, table: await deps.table(), nowMs: deps.nowMs });
  if (!quote.ok) return quote;
  return wallet.walletType === "XPUB_WALLET"
    ? withAddress(deps, request, quote.value)
    : withAmount(deps, request, quote.value);
}

async function withAddress(
  deps: ActivationDependencies,
  request: ActivationRequest,
  quote: MethodQuote,
): Promise<Result<Activation, Failure>> {
  const { invoice, wallet, operationId, publicHold } = request;
  const { keyHash, xpub, derivationPath, network } = wallet;
  if (keyHash === null || xpub === null || derivationPath === null)
    throw new Error(`an xpub wallet has no key: ${wallet.id}`);
  const isBounded = wallet.isKeyShared;
  const tooLong = isBounded ? lifetimeRefusal(invoice, deps.nowMs) : undefined;
  if (tooLong !== undefined) return err(tooLong);
  // Checked before the allocator is called, because the allocator keeps an address even if the batch is refused.
  const full = publicHold?.networks.find(({ held, max }) => held >= max);
  if (full !== undefined) return err({ code: "LIMIT_REACHED", name: "publicAddressesPerIp", limit: full.max });
  const maxUnpaid = publicHold === null ? LIMITS.addressesWithoutProof : publicPart(LIMITS.addressesWithoutProof);
  const cap = isBounded ? { maxUnpaid, paid: wallet.paidAddresses } : null;
  const allocated = await deps.allocate(keyHash, {
    invoiceId: invoice.id,
    merchantId: invoice.merchantId,
    network,
    xpub,
    derivationPath,
    cap,
    publicHold,
    shown: { terms: printTerms({ invoice, walletId: wallet.id, quote, shownAtMs: deps.nowMs }), atMs: deps.nowMs },
  });
  if (allocated.kind === "unpaid_limit")
    return err({ code: "LIMIT_REACHED", name: "addressesWithoutProof", limit: maxUnpaid });
  if (allocated.kind === "public_limit") return err({ code: "PUBLIC_ADDRESS_LIMIT" });
  if (allocated.kind === "network_limit")
    return err({ code: "LIMIT_REACHED", name: "publicAddressesPerIp", limit: allocated.limit });
  const { index, address } = allocated;
  const destination = { address, addressIndex: index, amountUnits: quote.amountUnits };
  const method = activeMethod({ ...deps, invoice, wallet, quote, destination });
  const warning = {
    eventId: derivedId("evt", `${operationId}|${pairKey(wallet)}`, 1_000 + index),
    merchantId: invoice.merchantId,
    walletId: wallet.id,
  };
  return ok({
    method,
    statements: [
      assertWalletUsable(deps.db, wallet.id, deps.nowMs),
      ...watching(deps, network),
      noteAllocation(deps.db, wallet.id, { index, nowMs: deps.nowMs }),
      ...warnOfGap(deps.db, { ...warning, nowMs: deps.nowMs }),
      putMethod(deps.db, method),
    ],
  });
}

async function withAmount(
  deps: ActivationDependencies,
  request: ActivationRequest,
  quote: MethodQuote,
): Promise<Result<Activation, Failure>> {
  const { invoice, wallet } = request;
  const { address, network, cryptocurrency } = wallet;
  const priceUnits = quote.amountUnits;
  if (address === null || priceUnits === null) throw new Error(`no address or amount: ${wallet.id}`);
  const at = { network, cryptocurrency, address };
  const made = await reserveAmount(deps, { invoice, walletId: wallet.id, at, priceUnits, sharing: wallet, quote });
  if (!made.ok) return made;
  const reserved = made.value;
  const destination = { address, addressIndex: null, amountUnits: reserved.units };
  const plain = activeMethod({ ...deps, invoice, wallet, quote, destination });
  const dueUnits = restUnits(plain, invoice, invoice.receivedMicros);
  // If a part was paid with another method, only the rest is asked for. The amount for it is reserved, because an unreserved amount may belong to
  // another invoice.
  const rested =
    dueUnits === null
      ? ok(undefined)
      : await reserveRest(deps, { invoice, method: { ...plain, address }, dueUnits, sharing: wallet });
  if (!rested.ok) return rested;
  const rest = rested.value;
  const restMicros = invoice.amountMicros - invoice.receivedMicros;
  const asked = { forMicros: restMicros, nowMs: deps.nowMs, isUsed: () => false };
  const method = rest === undefined ? plain : withRemainder(plain, { ...asked, remainderUnits: rest.units });
  return ok({
    method,
    statements: [
      assertWalletUsable(deps.db, wallet.id, deps.nowMs),
      ...watching(deps, network),
      ...reserved.statements,
      ...(rest?.statements ?? []),
      putMethod(deps.db, method),
    ],
  });
}

function watching(deps: ActivationDependencies, network: string): readonly Write[] {
  return deps.hasSource(network) ? [beginWatch(deps.db, network, deps.nowMs)] : [];
}
