// A user assigns a payment to an invoice while a watcher changes that payment, and while no price is known.
import { expect } from "vitest";
import type { Payment } from "../../../src/commerce/payments/payment.ts";
import { type Desk, METHODS_CONFIRMATIONS } from "./desk-system.ts";
import { MERCHANT, NOW_MS, ORDERS, type Order } from "./payments-till.ts";

export const ASSIGNED = [
  "done",
  "by its quote",
  "by the market",
  "without a price",
  "not open to it",
  "changed meanwhile",
  "left the chain meanwhile",
  "of another coin",
  "of another network",
] as const;

const SECOND = 1_000;
/** When the till was set up and its amounts were first requested. */
const ASKED_MS = NOW_MS - 60 * SECOND;
const LOCK_MS = 3_600 * SECOND;
const RATES: Readonly<Record<string, readonly [usd: bigint, decimals: number]>> = {
  USDT: [1n, 6],
  USDC: [1n, 6],
  BTC: [50_000n, 8],
};

export async function assigns(desk: Desk, note: (what: string) => void): Promise<void> {
  const own = (await desk.rows()).filter(({ merchantId }) => merchantId === MERCHANT);
  if (own.length === 0) return;
  const before = desk.pick([...own.filter(({ invoiceId }) => invoiceId === null), ...own]);
  const order = desk.pick([...ORDERS.filter(({ pair }) => pair.network === before.network), ...ORDERS]);
  const hasRates = desk.chance(0.6);
  const meanwhile = desk.pick(["nothing", "nothing", "changed", "left the chain"] as const);
  const change = meanwhile === "changed" ? "required_confirmations = required_confirmations + 5" : "status = 'REORGED'";
  const lostBefore = desk.lost;
  const answer = await desk.assign(
    before.id,
    order,
    hasRates,
    meanwhile === "nothing"
      ? undefined
      : () =>
          void desk.lab.rows(
            `update payments set ${change}, updated_at_ms = updated_at_ms + 1 where id = ?`,
            before.id,
          ),
  );
  if (desk.lost > lostBefore) return;
  const after = (await desk.rows()).find(({ id }) => id === before.id);
  const isOpen = before.invoiceId === null && (before.status === "UNMATCHED" || before.status === "IGNORED");
  const isQuoted = quoteApplies(before, order);
  if (!isOpen || (!hasRates && !isQuoted)) {
    note(`assign: ${isOpen ? "without a price" : "not open to it"}`);
    expect(answer).toMatchObject({
      ok: false,
      error: { code: isOpen ? "RATE_UNAVAILABLE" : "PAYMENT_NOT_RESOLVABLE" },
    });
    expect(after).toEqual(before);
    return;
  }
  if (meanwhile !== "nothing") note(`assign: ${meanwhile} meanwhile`);
  if (meanwhile === "left the chain") {
    expect(answer).toMatchObject({ ok: false, error: { code: "PAYMENT_NOT_RESOLVABLE" } });
    expect(after).toMatchObject({ status: "REORGED", invoiceId: before.invoiceId });
    return;
  }
  note("assign: done");
  note(isQuoted ? "assign: by its quote" : "assign: by the market");
  const needed = before.requiredConfirmations + (meanwhile === "changed" ? 5 : 0);
  const isThere = order.pair.network === before.network;
  if (!isThere) note("assign: of another network");
  else if (order.pair.cryptocurrency !== before.cryptocurrency) note("assign: of another coin");
  const required = Math.max(leastOf(before), isThere ? METHODS_CONFIRMATIONS : needed);
  expect(after).toMatchObject({
    invoiceId: order.id,
    matchedBy: "MANUAL",
    status: required > 1 ? "DETECTED" : "CONFIRMED",
    requiredConfirmations: required,
    updatedAtMs: desk.nowMs,
    fiatMicros: worthOf(before, order, isQuoted),
  });
  expect(answer).toMatchObject({ ok: true, value: { id: before.id, invoiceId: order.id } });
  expect(JSON.parse(after?.resolution ?? "null")).toMatchObject({ action: "ASSIGN", reason: "seen in person" });
}

/** A quote applies until its lock ends, plus a slack of two minutes or two blocks. */
function quoteApplies({ network, cryptocurrency, receivedAtMs }: Payment, { pair, expiresAtMs }: Order): boolean {
  const lockedUntilMs = Math.min(expiresAtMs, ASKED_MS + LOCK_MS);
  const slackMs = (network === "BTC" ? 1_200 : 120) * SECOND;
  return pair.network === network && pair.cryptocurrency === cryptocurrency && receivedAtMs <= lockedUntilMs + slackMs;
}

function worthOf(
  { amountUnits, cryptocurrency }: Payment,
  { expectedMicros, units }: Order,
  isQuoted: boolean,
): bigint {
  if (isQuoted) return (expectedMicros * amountUnits) / units;
  const [usd, decimals] = RATES[cryptocurrency] ?? [0n, 0];
  return (amountUnits * usd * 1_000_000n) / 10n ** BigInt(decimals);
}

const leastOf = ({ evidence }: Payment & { readonly evidence?: string }): number =>
  Number(JSON.parse(evidence ?? "{}").leastConfirmations ?? 0);
