// Whether a merchant can be paid now, for each coin on each network, from what a create decides on: a coin without a reason is one with which an invoice
// is created. Whether its payments are seen is said for a network that is being read. What a create asks and only an object knows, such as how many
// amounts of a shared address are left, is not here.
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

/** What is read of the merchant's row. */
interface Shop {
  readonly activeInvoices: number;
  readonly maxActiveInvoices: number;
  readonly publicInvoices: number;
  readonly maxPublicInvoices: number;
  readonly suspendedAtMs: number | null;
}

export interface ReadinessOf extends NetworkContext {
  readonly merchant: Shop;
  /** Live ones, oldest first. */
  readonly wallets: readonly Wallet[];
  readonly cursors: readonly NetworkCursor[];
  readonly macKeys: MacKeys;
  /** The currency of the prices that are asked about. */
  readonly currency: string;
  readonly table: RateTable;
  /** Why no invoice in the currency can be created (`currencyRefusal`). */
  readonly unpriced: Failure | undefined;
  /** Why the merchant's server may create no more (`serverRoomRefusal`). */
  readonly full: Failure | undefined;
  readonly isRestoring: boolean;
}

/** A limit is near from this share on. */
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

/** What stops every coin. */
function shopReasons({ merchant, unpriced, full, isRestoring, currency }: ReadinessOf): readonly Finding[] {
  const { suspendedAtMs, activeInvoices, maxActiveInvoices } = merchant;
  const suspended = "An operator has suspended this merchant, so it takes no new payments.";
  const restoring = "The deployment is being restored from a backup: until that is over no invoice can be created.";
  return [
    ...(suspendedAtMs === null ? [] : [finding("MERCHANT_SUSPENDED", suspended, { sinceMs: suspendedAtMs })]),
    ...(isRestoring ? [finding("RESTORING", restoring)] : []),
    ...(full === undefined
      ? []
      : [finding("LIMIT", limitText("invoices of your server and team", activeInvoices, maxActiveInvoices))]),
    ...(unpriced === undefined
      ? []
      : [finding("CURRENCY_NOT_PRICED", `Too few sources agree on a rate of ${currency} for prices in it.`)]),
  ];
}

/** Limits that are near. Browsers have one of their own, which stops none of the merchant's own invoices. */
function shopWarnings({ activeInvoices, maxActiveInvoices, publicInvoices, maxPublicInvoices }: Shop) {
  const isNear = (used: number, most: number) => used >= NEAR * most;
  return [
    ...(isNear(activeInvoices, maxActiveInvoices) && activeInvoices < maxActiveInvoices
      ? [finding("LIMIT", limitText("invoices of your server and team", activeInvoices, maxActiveInvoices))]
      : []),
    ...(isNear(publicInvoices, maxPublicInvoices)
      ? [finding("LIMIT", limitText("invoices that customers began themselves", publicInvoices, maxPublicInvoices))]
      : []),
  ];
}

function limitText(what: string, used: number, most: number): string {
  return `${used} ${what} wait for payment, and at most ${most} may.`;
}

interface Coin extends Pair, ReturnType<typeof networkOf> {
  readonly isTest: boolean;
  readonly asset: Asset;
  readonly wallet: Wallet | undefined;
}

/**
 * Those with a wallet first, then all others of networks with a source, and of main networks without one: that a coin has no wallet, and its network no
 * source, is an answer, too.
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

/** What is known about a network, once for all of its coins. */
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
  if (wallet === undefined) return [finding("NO_WALLET", "No wallet receives this coin on this network.")];
  const { isEnabled, usableFromMs: untilMs } = wallet;
  const pending = "The wallet was added or enabled recently: new invoices use it later.";
  const frozen = "The wallet was altered in the database and is not used. Delete it, and register it again.";
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
