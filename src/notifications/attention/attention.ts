// Computes what needs a merchant's attention from the rows that were read: which kinds of problem, how many of each, and since when.
import { assetOn, networkNamed } from "../../chains/registry/networks.ts";
import { isLagging, type NetworkCursor } from "../../commerce/cursors/cursor.ts";
import type { Invoice } from "../../commerce/invoice-records/invoice.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import type { MacKeys } from "../../commerce/wallet-records/row-mac.ts";
import { GAP_WARNING_AT, isWalletIntact, type Wallet } from "../../commerce/wallet-records/wallet.ts";
import { formatUnits } from "../../lib/money.ts";
import { DAY_MS, isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { SOME_FAILURES } from "../webhooks/retry-schedule.ts";
import type { Webhook } from "../webhooks/webhook.ts";

/** Counting stops at this number, so that a read costs the same however long the queue is. */
export const MOST_COUNTED = 100;
/** At most this many items of each kind are shown. */
export const MOST_SHOWN = 5;
/** How long an underpaid invoice is shown if no one decides about it. After that the customer has most likely given up. */
export const UNDERPAID_SHOWN_MS = 30 * DAY_MS;
/** How long a warning that few amounts are left for a price is shown. */
const AMOUNTS_LOW_SHOWN_MS = DAY_MS;

/**
 * A row of a kind that may have any number of rows. Only the newest rows are read; each contains the number of all rows and the time of the oldest.
 */
interface Counted {
  /** At most one more than `MOST_COUNTED`. */
  readonly total: number;
  readonly sinceMs: number;
}

type UnmatchedRow = Counted &
  Pick<Payment, "id" | "network" | "cryptocurrency" | "amountUnits" | "txHash" | "createdAtMs">;
type InvoiceRow = Counted & Pick<Invoice, "id" | "externalId" | "name" | "status" | "isLate" | "createdAtMs">;
type EndpointRow = Pick<
  Webhook,
  "id" | "url" | "isActive" | "failuresInRow" | "failingSinceMs" | "disabledReason" | "disabledAtMs"
>;

/** An event about a wallet. */
export interface WalletWarning {
  readonly type: "wallet.gap_limit_warning" | "wallet.amounts_low";
  readonly walletId: string;
  readonly atMs: number;
}

interface WalletFacts {
  /** The live wallets. */
  readonly wallets: readonly Wallet[];
  readonly cursors: readonly Pick<
    NetworkCursor,
    "network" | "isResting" | "degradedSinceMs" | "lastOutage" | "pausedAtMs"
  >[];
  /** Newest first within a type; only the newest warnings of each type. */
  readonly warnings: readonly WalletWarning[];
}

/** One kind of problem; empty if nothing of this kind needs attention. */
function kind<T extends string, One extends { readonly since: string | null }>(type: T, all: readonly One[]) {
  const times = all.flatMap(({ since }) => since ?? []).toSorted();
  if (all.length === 0) return [];
  const newest = all.toSorted((one, other) => ((one.since ?? "") < (other.since ?? "") ? 1 : -1)).slice(0, MOST_SHOWN);
  return [{ type, count: all.length, isMore: false, since: times[0] ?? null, newest }];
}

/** Like `kind`, if only the newest rows of the kind were read. */
function countedKind<T extends string, Row extends Counted, One>(
  type: T,
  rows: readonly Row[],
  shown: (row: Row) => One,
) {
  const [first] = rows;
  if (first === undefined) return [];
  const { total, sinceMs } = first;
  return [
    {
      type,
      count: Math.min(total, MOST_COUNTED),
      isMore: total > MOST_COUNTED,
      since: isoTime(sinceMs),
      newest: rows.map(shown),
    },
  ];
}

export function unmatchedAttention(rows: readonly UnmatchedRow[]) {
  return countedKind(
    "PAYMENT_UNMATCHED",
    rows,
    ({ id, network, cryptocurrency, amountUnits, txHash, createdAtMs }) => ({
      paymentId: id,
      network,
      currency: cryptocurrency,
      txHash,
      since: isoTime(createdAtMs),
      amount: amountText({ network, cryptocurrency, amountUnits }),
    }),
  );
}

/** Null if the registry no longer has the coin. */
function amountText({
  network,
  cryptocurrency,
  amountUnits,
}: Pick<UnmatchedRow, "network" | "cryptocurrency" | "amountUnits">) {
  const known = networkNamed(network);
  const asset = known === undefined ? undefined : assetOn(known, cryptocurrency);
  return asset === undefined ? null : formatUnits(amountUnits, asset.decimals);
}

const shownInvoice = ({ id, externalId, name, status, isLate, createdAtMs }: InvoiceRow) => ({
  invoiceId: id,
  externalId,
  name,
  status,
  isLate,
  since: isoTime(createdAtMs),
});

export function invoiceAttention(of: {
  readonly inReview: readonly InvoiceRow[];
  readonly underpaid: readonly InvoiceRow[];
}) {
  return [
    ...countedKind("INVOICE_IN_REVIEW", of.inReview, shownInvoice),
    ...countedKind("INVOICE_UNDERPAID", of.underpaid, shownInvoice),
  ];
}

export function endpointAttention(rows: readonly EndpointRow[]) {
  const shown = ({ id, url, failuresInRow }: EndpointRow) => ({ webhookId: id, url, failuresInRow });
  const disabled = rows.filter(({ disabledReason }) => disabledReason !== null);
  const failing = rows.filter(({ isActive, failuresInRow }) => isActive && failuresInRow >= SOME_FAILURES);
  return [
    ...kind(
      "ENDPOINT_DISABLED",
      disabled.map((row) => ({
        ...shown(row),
        reason: row.disabledReason,
        since: isoTimeOrNull(row.disabledAtMs),
      })),
    ),
    ...kind(
      "ENDPOINT_FAILING",
      failing.map((row) => ({ ...shown(row), since: isoTimeOrNull(row.failingSinceMs) })),
    ),
  ];
}

export function walletAttention(facts: WalletFacts, context: { readonly macKeys: MacKeys; readonly nowMs: number }) {
  const { macKeys, nowMs } = context;
  const isIntact = (wallet: Wallet) => isWalletIntact(macKeys, wallet);
  const altered = facts.wallets.filter((wallet) => !isIntact(wallet));
  const intact = facts.wallets.filter(isIntact);
  const shown = ({ id, network, cryptocurrency }: Wallet) => ({ walletId: id, network, cryptocurrency });
  const warnedAt = (type: WalletWarning["type"], { id }: Wallet) =>
    facts.warnings.find((warning) => warning.type === type && warning.walletId === id)?.atMs ?? null;
  const isLow = (wallet: Wallet) => (warnedAt("wallet.amounts_low", wallet) ?? 0) > nowMs - AMOUNTS_LOW_SHOWN_MS;
  return [
    ...kind(
      "WALLET_ALTERED",
      altered.map((wallet) => ({ ...shown(wallet), since: isoTimeOrNull(wallet.frozenAtMs) })),
    ),
    ...kind("NETWORK_LAGGING", laggingNetworks(facts, nowMs)),
    ...kind(
      "WALLET_AMOUNTS_LOW",
      intact.filter(isLow).map((wallet) => ({
        ...shown(wallet),
        since: isoTimeOrNull(warnedAt("wallet.amounts_low", wallet)),
      })),
    ),
    ...kind(
      "WALLET_GAP",
      intact
        .filter(({ gap }) => (gap ?? 0) >= GAP_WARNING_AT)
        .map((wallet) => ({
          ...shown(wallet),
          gap: wallet.gap,
          since: isoTimeOrNull(warnedAt("wallet.gap_limit_warning", wallet)),
        })),
    ),
    ...kind(
      "WALLET_CHANGE_PENDING",
      intact
        .filter(({ usableFromMs }) => usableFromMs > nowMs)
        .map((wallet) => ({
          ...shown(wallet),
          usableFrom: isoTime(wallet.usableFromMs),
          since: isoTime(wallet.updatedAtMs),
        })),
    ),
  ];
}

/** The networks of enabled wallets that are paused, or have not been readable for a few minutes, so that payments on them are not seen. */
function laggingNetworks({ wallets, cursors }: WalletFacts, nowMs: number) {
  const lagging = cursors.filter((cursor) => isLagging(cursor, nowMs));
  return lagging.flatMap(({ network, degradedSinceMs, lastOutage, pausedAtMs }) => {
    const used = wallets.filter((wallet) => wallet.isEnabled && wallet.network === network);
    if (used.length === 0) return [];
    return [
      {
        network,
        reason: pausedAtMs === null ? lastOutage : "PAUSED",
        walletIds: used.map(({ id }) => id),
        since: isoTimeOrNull(pausedAtMs ?? degradedSinceMs),
      },
    ];
  });
}
