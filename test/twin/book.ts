// A day's book records what should happen to each invoice. It is compared with the deployment and with what the shops' servers received.
import * as z from "zod";
import type { Twin } from "./deployment.ts";
import type { Receiver } from "./internet.ts";
import { jsonIn } from "./json.ts";
import type { Workplace } from "./people.ts";

const LIST = z.object({ data: z.array(z.object({ id: z.string(), status: z.string() })) });

export type Fate = "PAID" | "CANCELLED" | "EXPIRED" | "AWAITING_PAYMENT";

interface Kept {
  readonly id: string;
  readonly fate: Fate;
}

export interface Shop extends Workplace {
  readonly receiver: Receiver;
  readonly book: Kept[];
}

/** `draw` is a random number in [0, 1); the others are shares of all invoices. */
export function fateOf(
  draw: number,
  { paid, cancelled, expired }: { readonly paid: number; readonly cancelled: number; readonly expired: number },
): Fate {
  if (draw < paid) return "PAID";
  if (draw < paid + cancelled) return "CANCELLED";
  return draw < paid + cancelled + expired ? "EXPIRED" : "AWAITING_PAYMENT";
}

/** The differences between the invoices that the deployment lists and the book. */
export async function differencesOf(ask: Twin["ask"], { merchantId, headers, book }: Shop): Promise<readonly string[]> {
  const wrong: string[] = [];
  const listed = new Map<string, string>();
  for (let page = 1; ; page++) {
    const answer = await ask(`/api/v1/merchants/merchant/${merchantId}/invoices?limit=100&page=${page}`, {
      headers,
    });
    if (answer.status !== 200) return [`the list of ${merchantId}: ${answer.status} ${answer.text.slice(0, 200)}`];
    const { data } = jsonIn(LIST, answer.text);
    for (const each of data) listed.set(each.id, each.status);
    if (data.length < 100) break;
  }
  if (listed.size !== book.length) wrong.push(`${merchantId}: ${listed.size} invoices, ${book.length} were made`);
  for (const { id, fate } of book) {
    const status = listed.get(id);
    if (status !== fate) wrong.push(`${id}: ${status}, and not ${fate}`);
  }
  return wrong;
}

const LAST_EVENT: Readonly<Record<Fate, string | undefined>> = {
  PAID: "invoice.paid",
  CANCELLED: "invoice.cancelled",
  EXPIRED: "invoice.expired",
  AWAITING_PAYMENT: undefined,
};

/** Checks that the receiver got the last event of each invoice once, and each sequence number once. */
export function eventsMissing(book: readonly Kept[], { accepted, refused, manner }: Receiver): readonly string[] {
  const wrong = refused === 0 ? [] : [`${refused} deliveries with a wrong signature`];
  const told = new Map<string, { readonly types: string[]; readonly sequences: number[] }>();
  for (const { invoiceId = "", type, sequence } of accepted.values()) {
    const of = told.get(invoiceId) ?? { types: [], sequences: [] };
    told.set(invoiceId, of);
    of.types.push(type);
    if (sequence !== null) of.sequences.push(sequence);
  }
  const own = new Set(["", ...book.map(({ id }) => id)]);
  for (const id of told.keys()) if (!own.has(id)) wrong.push(`${id}: is no invoice of the shop that was told of it`);
  for (const { id, fate } of book) {
    const { types = [], sequences = [] } = told.get(id) ?? {};
    const last = LAST_EVENT[fate];
    const times = types.filter((type) => type === last).length;
    if (last !== undefined && times !== 1) wrong.push(`${id}: ${last} came ${times} times (${manner} receiver)`);
    const inOrder = sequences.toSorted((a, b) => a - b);
    if (inOrder.length === 0 || inOrder.some((number, at) => number !== at + 1))
      wrong.push(`${id}: the numbers of its events are ${inOrder} (${manner} receiver)`);
  }
  return wrong;
}
