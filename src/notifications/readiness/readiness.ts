// Decides for each coin on each network whether a merchant can be paid now, from the facts on which creating an invoice depends. An invoice can be
// created if neither the merchant nor at least one coin has a reason against it; reasons in `SEEN_LATE` do not prevent it. Whether payments are seen
// is only reported for a network that is being read. Facts that only a Durable Object has, such as how many amounts of a shared address are left, are
// not included.
import { type Asset, NETWORKS, type Network } from "../../chains/registry/networks.ts";
import { isSamePair, type Pair } from "../../chains/registry/pair.ts";
import type { NetworkCursor } from "../../commerce/cursors/cursor.ts";
import type { MacKeys } from "../../commerce/wallet-records/row-mac.ts";
import { isWalletIntact, isWalletOpen, type Wallet } from "../../commerce/wallet-records/wallet.ts";
import { isoTime } from "../../lib/time.ts";
import type { Failure } from "../../platform/failures.ts";
import { quoteRate, type RateTable } from "../../rates/quote.ts";
import { type Finding, finding, findingBodyOf } from "./finding.ts";
import { type NetworkContext, networkFindings, readingBodyOf } from "./network-findings.ts";

/** The columns that are read from the merchant's row. */
interface Shop {
  readonly activeInvoices: number;
  readonly maxActiveInvoices: number;
  readonly publicInvoices: number;
  readonly maxPublicInvoices: number;
  readonly suspendedAtMs: number | null;
}

export interface ReadinessOf extends NetworkContext {
  readonly merchant: Shop;
  /** Only live wallets, oldest first. */
  readonly wallets: readonly Wallet[];
  readonly cursors: readonly NetworkCursor[];
  readonly macKeys: MacKeys;
  /** The currency of the prices. */
  readonly currency: string;
  readonly table: RateTable;
  /** Why no invoice in the currency can be created (`currencyRefusal`). */
  readonly unpriced: Failure | undefined;
  /** Why the merchant's server may create no more invoices (`serverRoomRefusal`). */
  readonly full: Failure | undefined;
  readonly isRestoring: boolean;
}

/** A merchant that has used this share of a limit is warned. */
const NEAR = 0.9;

export function readinessOf(of: ReadinessOf) {
  const reasons = shopReasons(of);
  const coins = coinsOf(of).map((coin) => coinBodyOf(coin, of, reasons.length === 0));
  const { activeInvoices, maxActiveInvoices, publicInvoices, maxPublicInvoices } = of.merchant;
  return {
    checkedAt: isoTime(of.nowMs),
    currency: of.currency,
    canBePaid: coins.some(({ isTest, canBePaid }) => canBePaid && !isTest),
    reasons: reasons.map(findingBodyOf),
    warnings: shopWarnings(of.merchant).map(findingBodyOf),
    limits: { activeInvoices, maxActiveInvoices, publicInvoices, maxPublicInvoices },
    coins,
  };
}

/** Reasons that apply to every coin. */
function shopReasons({ merchant, unpriced, full, isRestoring, currency }: ReadinessOf): readonly Finding[] {
  const { suspendedAtMs, activeInvoices, maxActiveInvoices } = merchant;
  const suspended = "An operator has suspended this merchant, so it cannot create invoices.";
  const restoring =
    "The deployment is being restored from a backup. No invoices can be created until this has finished.";
  return [
    ...(suspendedAtMs === null ? [] : [finding("MERCHANT_SUSPENDED", suspended, { sinceMs: suspendedAtMs })]),
    ...(isRestoring ? [finding("RESTORING", restoring)] : []),
    ...(full === undefined
      ? []
      : [finding("LIMIT", limitText("invoices created by your server and team", activeInvoices, maxActiveInvoices))]),
    ...(unpriced === undefined
      ? []
      : [
          finding("CURRENCY_NOT_PRICED", `Too few rate sources agree on ${currency}, so it cannot be used for prices.`),
        ]),
  ];
}

/**
 * Limits that are nearly reached. The separate limit of browsers is only a warning even once it is reached, because it does not affect the invoices
 * that the merchant's own server creates.
 */
function shopWarnings({ activeInvoices, maxActiveInvoices, publicInvoices, maxPublicInvoices }: Shop) {
  const isNear = (used: number, most: number) => used >= NEAR * most;
  return [
    ...(isNear(activeInvoices, maxActiveInvoices) && activeInvoices < maxActiveInvoices
      ? [finding("LIMIT", limitText("invoices created by your server and team", activeInvoices, maxActiveInvoices))]
      : []),
    ...(isNear(publicInvoices, maxPublicInvoices)
      ? [finding("LIMIT", limitText("invoices started by customers", publicInvoices, maxPublicInvoices))]
      : []),
  ];
}

function limitText(what: string, used: number, most: number): string {
  return `${used} ${what} are awaiting payment; the limit is ${most}.`;
}

interface Coin extends Pair, ReturnType<typeof networkOf> {
  readonly isTest: boolean;
  readonly asset: Asset;
  readonly wallet: Wallet | undefined;
}

/**
 * All coins on networks that have a source, are main networks, or have a wallet of the merchant: a missing wallet or source is reported too. Coins
 * with a wallet come first.
 */
function coinsOf(of: ReadinessOf): readonly Coin[] {
  const { wallets, hasSource } = of;
  const isAskedAbout = ({ name, isTest }: Network) =>
    hasSource(name) || !isTest || wallets.some(({ network }) => network === name);
  const coins = NETWORKS.filter(isAskedAbout).flatMap(({ name: network, isTest, assets }) => {
    const known = networkOf(network, of);
    return assets.map((asset): Coin => {
      const pair = { network, cryptocurrency: asset.code };
      return { ...pair, ...known, isTest, asset, wallet: wallets.find((each) => isSamePair(each, pair)) };
    });
  });
  return coins.toSorted((one, other) => Number(other.wallet !== undefined) - Number(one.wallet !== undefined));
}

/** The facts about a network, computed once for all of its coins. */
function networkOf(network: string, of: ReadinessOf) {
  const cursor = of.cursors.find((each) => each.network === network);
  return { watch: networkFindings(network, cursor, of), reading: readingBodyOf(cursor, of.nowMs) };
}

function coinBodyOf(coin: Coin, of: ReadinessOf, isShopReady: boolean) {
  const { network, cryptocurrency, isTest, asset, wallet, watch, reading } = coin;
  const reasons = [...walletReasons(wallet, of), ...watch.reasons, ...rateReasons(asset, of)];
  return {
    network,
    cryptocurrency,
    isTest,
    walletId: wallet?.id ?? null,
    canBePaid: isShopReady && reasons.length === 0,
    reasons: reasons.map(findingBodyOf),
    warnings: watch.warnings.map(findingBodyOf),
    reading,
  };
}

function walletReasons(wallet: Wallet | undefined, { macKeys, nowMs }: ReadinessOf): readonly Finding[] {
  if (wallet === undefined) return [finding("NO_WALLET", "You have no wallet for this coin on this network.")];
  const { isEnabled, usableFromMs: untilMs } = wallet;
  const pending = "The wallet was added or enabled recently, and new invoices do not use it yet.";
  const frozen = "The wallet was altered in the database and is not used. Delete it, then add it again.";
  return [
    ...(isEnabled ? [] : [finding("WALLET_DISABLED", "The wallet is disabled.")]),
    ...(isEnabled && !isWalletOpen(wallet, nowMs) ? [finding("WALLET_CHANGE_PENDING", pending, { untilMs })] : []),
    ...(isWalletIntact(macKeys, wallet) ? [] : [finding("WALLET_FROZEN", frozen, { sinceMs: wallet.frozenAtMs })]),
  ];
}

function rateReasons({ code, rateCode: assetCode }: Asset, { table, currency, nowMs }: ReadinessOf) {
  if (quoteRate({ table, assetCode, currency, nowMs }).ok) return [];
  return [finding("NO_RATE", `There is no current price of ${code} in ${currency}.`)];
}
