// What happens after a transfer has first been read: other sources contradict it, it is mined again, or it disappears while its invoice's row is
// unreadable.
import { expect } from "vitest";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { Dice } from "../../support/dice.ts";
import type { Situation } from "./meant-facts.ts";
import type { Expected } from "./meant-oracle.ts";
import { calm, damage, lab, read, transferOf } from "./meant-system.ts";
import type { Row } from "./reorg-shop.ts";

export const LATER = [
  "another source says another amount",
  "it waits again, with another amount",
  "mined again at once confirmed",
  "mined again, held back",
  "gone",
  "gone, of an invoice that cannot be read",
] as const;

/** Whether two sources must agree before a payment of its invoice is confirmed. */
export function needsSecond({ quorumMicros }: Situation, { invoice, worthMicros }: Expected): boolean {
  if (quorumMicros === null || invoice === null) return false;
  return invoice.expectedMicros >= quorumMicros || worthMicros >= quorumMicros;
}

const everything = () => [
  lab.rows("select * from payments order by id"),
  lab.rows("select id, status, received_micros, needs_review, event_sequence from invoices order by id"),
];

export async function later(
  situation: Situation,
  of: { readonly seed: number; readonly expected: Expected; readonly rows: readonly Row[] },
  note: (what: string) => void,
): Promise<void> {
  const { seed, expected } = of;
  const act = new Dice(seed + 1_000_003).oneOf(["told otherwise", "waits again", "mined again", "gone"] as const);
  const before = everything();
  const other = { ...transferOf(situation), amountUnits: situation.units + 7n };
  if (act === "told otherwise") {
    note("later: another source says another amount");
    await read(situation, -seed, { transfers: [other], isHearsay: true });
    expect(everything()).toEqual(before);
  }
  if (act === "waits again" && situation.isMined) {
    note("later: it waits again, with another amount");
    await read(situation, -seed, { transfers: [{ ...other, block: null }] });
    expect(everything()).toEqual(before);
  }
  if (act === "mined again") await minedAgain(situation, of, note);
  if (act === "gone") {
    const seen = (await calm.select().from(payments)).map((payment) => ({ payment, observation: UNKNOWN }));
    const { invoice } = expected;
    const isCredited = invoice !== null && !expected.isDust;
    if (isCredited) await damage({ id: invoice.id, damage: "row" });
    note(isCredited ? "later: gone, of an invoice that cannot be read" : "later: gone");
    const { rows, alerts } = await read(situation, -seed, { seen });
    // A transfer that was seen only in a mempool may just have been forgotten there.
    const left = of.rows.map(({ status }) => (situation.isMined ? "REORGED" : status));
    expect(rows.map(({ status }) => status)).toEqual(left);
    expect(alerts.length > 0).toBe(isCredited && situation.isMined);
  }
}

const UNKNOWN = { kind: "unknown" } as const;

/** If the chain alone decides, the payment is confirmed at once. If two sources must agree, they must also agree about the other block. */
async function minedAgain(
  situation: Situation,
  {
    seed,
    expected,
    rows: before,
  }: { readonly seed: number; readonly expected: Expected; readonly rows: readonly Row[] },
  note: (what: string) => void,
): Promise<void> {
  const block = { height: 21, hash: "b21", timeMs: situation.paidMs };
  const { rows } = await read(situation, -seed, { transfers: [{ ...transferOf(situation), block }] });
  const statusOf = ({ status, invoice_id }: Row) => {
    if (invoice_id === null) return status;
    const isSmall = status === "CONFIRMED" && !needsSecond(situation, expected);
    const isConfirmed = !situation.hasSecond || isSmall;
    note(isConfirmed ? "later: mined again at once confirmed" : "later: mined again, held back");
    return isConfirmed ? "CONFIRMED" : "DETECTED";
  };
  expect(rows.map(({ status }) => status)).toEqual(before.map(statusOf));
  expect(lab.rows("select distinct block_hash from payments").map(({ block_hash }) => block_hash)).toEqual(["b21"]);
}
