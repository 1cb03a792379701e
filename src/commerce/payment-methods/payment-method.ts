// An invoice's payment method for one pair: which wallets it may use, its quote, and its row (decisions 4).
import { isSamePair, type Pair, pairOf } from "../../chains/registry/pair.ts";
import { maxBig } from "../../lib/money.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { printJson } from "../../lib/typed-json.ts";
import type { Failure } from "../../platform/failures.ts";
import { type Quote, quoteRate, type RateTable, unitsFor } from "../../rates/quote.ts";
import { plainUnits } from "../amounts/direct-amount.ts";
import { type Invoice, lockEndMs, type PaymentMethod } from "../invoice-records/invoice.ts";
import { dustLimitUnits } from "../payments/dust.ts";
import { type Quote as AskedQuote, parseQuotes, printQuotes, withQuote } from "../quotes/quotes.ts";
import { type MacKeys, signRow } from "../wallet-records/row-mac.ts";
import { isWalletIntact, isWalletOpen, type Wallet } from "../wallet-records/wallet.ts";

export interface PayableContext {
  readonly amountMicros: bigint;
  readonly macKeys: MacKeys;
  readonly isWatched: (network: string) => boolean;
  readonly nowMs: number;
}

/** A wallet. `isPaused`: whether its network is paused; absent if that was not read. */
type MaybePaused = Wallet & { readonly isPaused?: boolean };

/** Why an invoice cannot use a live wallet now; undefined if it can. */
export function walletRefusal(wallet: MaybePaused, context: PayableContext): Failure | undefined {
  if (!isWalletOpen(wallet, context.nowMs))
    return { code: "NO_ENABLED_WALLET", cryptocurrency: wallet.cryptocurrency, network: wallet.network };
  if (!isWalletIntact(context.macKeys, wallet)) return { code: "WALLET_FROZEN" };
  if (context.amountMicros === 0n && wallet.walletType === "DIRECT_WALLET")
    return { code: "ANY_AMOUNT_NEEDS_OWN_ADDRESS" };
  const isRead = context.isWatched(wallet.network) && wallet.isPaused !== true;
  return isRead ? undefined : { code: "NETWORK_NOT_WATCHED", network: wallet.network };
}

/**
 * The wallets to activate when an invoice is created: those of the named pairs, in that order; if no pairs are named, the only available wallet. The
 * invoice is refused (422) if a named pair has no enabled wallet, or if that wallet's delay is not over. An enabled wallet that cannot be used now is
 * returned too, and its method becomes UNAVAILABLE.
 */
export function walletsToActivate<W extends MaybePaused>(
  wallets: readonly W[],
  named: readonly Pair[] | undefined,
  context: PayableContext,
): Result<readonly W[], Failure> {
  const enabled = wallets.filter((wallet) => isWalletOpen(wallet, context.nowMs));
  if (named === undefined) {
    const available = enabled.filter((wallet) => walletRefusal(wallet, context) === undefined);
    return ok(available.length === 1 ? available : []);
  }
  const chosen: W[] = [];
  for (const pair of named) {
    const wallet = enabled.find((each) => isSamePair(each, pair));
    if (wallet === undefined) return err({ code: "NO_ENABLED_WALLET", ...pair });
    chosen.push(wallet);
  }
  return ok(chosen);
}

/**
 * A method's quote, before it is lowered to a free amount at a shared address. `amountUnits`: null on an any-amount invoice; for a direct wallet
 * rounded up to the grain; never below the dust limit, because a smaller payment does not count.
 */
export interface MethodQuote extends Quote {
  readonly amountUnits: bigint | null;
}

export function quoteMethod(of: {
  readonly invoice: Pick<Invoice, "amountMicros" | "currency">;
  readonly wallet: Pick<Wallet, "cryptocurrency" | "network" | "walletType">;
  readonly table: RateTable;
  readonly nowMs: number;
}): Result<MethodQuote, Failure> {
  const { asset, network } = pairOf(of.wallet);
  const { amountMicros, currency } = of.invoice;
  const quote = quoteRate({ table: of.table, assetCode: asset.rateCode, currency, nowMs: of.nowMs });
  if (!quote.ok) return err({ code: "RATE_UNAVAILABLE" });
  if (amountMicros === 0n) return ok({ ...quote.value, amountUnits: null });
  const units = unitsFor({ amountMicros, rate: quote.value.rate, decimals: asset.decimals });
  const leastUnits = dustLimitUnits(network, asset.code);
  const isShared = of.wallet.walletType === "DIRECT_WALLET";
  return ok({
    ...quote.value,
    amountUnits: isShared ? plainUnits(units, asset, leastUnits) : maxBig(units, leastUnits),
  });
}

/** The address and amount that an activation adds to a quote. */
interface Destination {
  readonly address: string;
  readonly addressIndex: number | null;
  readonly amountUnits: bigint | null;
}

export function activeMethod(of: {
  readonly invoice: Pick<
    Invoice,
    "id" | "merchantId" | "amountMicros" | "expiresAtMs" | "monitorUntilMs" | "rateLockSeconds"
  >;
  readonly wallet: Wallet;
  readonly quote: MethodQuote;
  readonly destination: Destination;
  readonly macKeys: MacKeys;
  readonly nowMs: number;
}): PaymentMethod {
  const { invoice, wallet, quote, destination, nowMs } = of;
  const mac = signRow(of.macKeys, {
    kind: "method",
    row: invoice.id,
    merchantId: invoice.merchantId,
    network: wallet.network,
    cryptocurrency: wallet.cryptocurrency,
    target: destination.address,
  });
  const method = {
    ...blankMethod(invoice, wallet),
    ...destination,
    ...mac,
    status: "ACTIVE",
    activatedAtMs: nowMs,
  } as const;
  return quotedMethod(method, {
    quote: { ...quote, amountUnits: destination.amountUnits },
    forMicros: invoice.amountMicros,
    nowMs,
    lockedUntilMs: lockEndMs(invoice, nowMs),
    isUsed: () => false,
  });
}

/**
 * The method with a quote made at `nowMs`. If the same amount for the same value is requested again soon enough, the current quote is extended and
 * keeps its start (quotes.ts). `isUsed`: whether a payment has its value from a quote.
 */
export function quotedMethod(
  method: PaymentMethod,
  of: {
    readonly quote: MethodQuote;
    readonly forMicros: bigint;
    readonly nowMs: number;
    readonly lockedUntilMs: number;
    readonly isUsed: (quote: AskedQuote) => boolean;
  },
): PaymentMethod {
  const { quote, forMicros, nowMs, lockedUntilMs, isUsed } = of;
  const { amountUnits, rate, rateAtMs, sources } = quote;
  const asked = { amountUnits, rate, forMicros, askedFromMs: nowMs, lockedUntilMs };
  const quotes = withQuote(parseQuotes(method.quotes), asked, isUsed);
  return {
    ...method,
    amountUnits,
    rate,
    rateAtMs,
    rateSources: printJson(sources),
    quotedAtMs: quotes.findLast(({ isRemainder }) => isRemainder !== true)?.askedFromMs ?? nowMs,
    quoteForMicros: forMicros,
    lockedUntilMs,
    quotes: printQuotes(quotes),
    remainderUnits: null,
  };
}

/** The method with an amount for the rest after a partial payment, valid until the lock ends and worth `forMicros`; null removes that amount. */
export function withRemainder(
  method: PaymentMethod,
  of: {
    readonly remainderUnits: bigint | null;
    readonly forMicros: bigint;
    readonly nowMs: number;
    readonly isUsed: (quote: AskedQuote) => boolean;
  },
): PaymentMethod {
  const { remainderUnits, forMicros, nowMs, isUsed } = of;
  const { rate, lockedUntilMs } = method;
  if (remainderUnits === null || rate === null || lockedUntilMs === null) return { ...method, remainderUnits };
  const asked = {
    amountUnits: remainderUnits,
    rate,
    forMicros,
    askedFromMs: nowMs,
    lockedUntilMs,
    isRemainder: true,
  } as const;
  return { ...method, remainderUnits, quotes: printQuotes(withQuote(parseQuotes(method.quotes), asked, isUsed)) };
}

/** A method that was requested when the invoice was created, but could not be activated; it may be picked again later. */
export function unavailableMethod(
  invoice: Pick<Invoice, "id" | "merchantId">,
  wallet: Wallet,
  reason: string,
): PaymentMethod {
  return { ...blankMethod(invoice, wallet), reason };
}

function blankMethod(invoice: Pick<Invoice, "id" | "merchantId">, wallet: Wallet): PaymentMethod {
  return {
    invoiceId: invoice.id,
    cryptocurrency: wallet.cryptocurrency,
    network: wallet.network,
    merchantId: invoice.merchantId,
    walletId: wallet.id,
    walletType: wallet.walletType,
    status: "UNAVAILABLE",
    reason: null,
    address: null,
    addressIndex: null,
    amountUnits: null,
    rate: null,
    rateAtMs: null,
    rateSources: null,
    quotedAtMs: null,
    quoteForMicros: null,
    lockedUntilMs: null,
    quotes: "[]",
    requiredConfirmations: wallet.requiredConfirmations,
    mac: null,
    macKeyId: null,
    activatedAtMs: null,
    remainderUnits: null,
    isFromPublicKey: false,
  };
}
