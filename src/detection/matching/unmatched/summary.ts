// The event that summarises the transfers to an address in one day that are not shown to a merchant.
import type { Payment } from "../../../commerce/payments/payment.ts";
import { derivedId, ulidHead } from "../../../lib/ids.ts";
import { formatMicros } from "../../../lib/money.ts";
import type { UnmatchedEvents } from "../unmatched-events.ts";
import { UNMATCHED_A_DAY, valueRangeOf } from "../unmatched-limit.ts";

type Subject = Pick<Payment, "merchantId" | "network" | "toAddress" | "usdMicros">;

/** One summary a day for each merchant, address and value range: its id is derived from them. */
export function summaryId({ merchantId, network, toAddress, usdMicros }: Subject, dayMs: number) {
  const range = valueRangeOf(usdMicros).fromMicros;
  return derivedId("evt", `${ulidHead(dayMs, merchantId)}|${merchantId}|${network}|${toAddress}|${range}`);
}

export function summaryOf({ network, toAddress, usdMicros }: Omit<Subject, "merchantId">): string {
  const { fromMicros, belowMicros } = valueRangeOf(usdMicros);
  const summary = {
    payment: null,
    network,
    toAddress,
    unmatchedToday: UNMATCHED_A_DAY,
    isTruncated: true as const,
    worthFrom: fromMicros === null ? null : formatMicros(fromMicros),
    worthBelow: belowMicros === null ? null : formatMicros(belowMicros),
  };
  return JSON.stringify(summary satisfies UnmatchedEvents["payment.unmatched"]);
}
