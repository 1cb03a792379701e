// Several passes over the same chain apply the same transfers to one invoice. This tests the rule that an invoice's status is a function of facts,
// and a broken variant that adds to a sum instead.
import { asc, eq, sql } from "drizzle-orm";
import { derivedId, type InvoiceId, type MerchantId } from "../../../src/lib/ids.ts";
import { batchConflict } from "../../../src/platform/db/conflict.ts";
import { faultKind, readWithRetry, withinLimit } from "../../../src/platform/db/retry.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { type Attempt, insist, type Scenario } from "./campaign.ts";
import type { Lab } from "./lab.ts";
import type { Client, World } from "./world.ts";

const MERCHANT: MerchantId = "mer_00000000000000000000000000";
const INVOICE: InvoiceId = "inv_00000000000000000000000000";
const TRANSFERS = [30, 50, 20];
const PASSES = 2;

/** The content of one event: the transfer, and the sum that includes it. */
type Seen = { readonly transfer: number; readonly received: number };
type History = readonly { readonly sequence: number; readonly seen: Seen }[];
/** What to write for a transfer, given the history; undefined if the transfer is already there. */
type Rule = (history: History, transfer: number) => { received: number; sequence: number | null } | undefined;

/** Computes the sum from all transfers seen. The next sequence number is the lock. */
export const recomputed: Rule = (history, transfer) => {
  if (history.some((each) => each.seen.transfer === transfer)) return undefined;
  const transfers = [...history.map((each) => each.seen.transfer), transfer];
  const received = transfers.reduce((sum, each) => sum + (TRANSFERS[each] ?? 0), 0);
  return { received, sequence: history.length + 1 };
};

/** Broken: adds the new amount to the last sum, and nothing stops two writers from doing so at once. */
export const nudged: Rule = (history, transfer) => ({
  received: (history.at(-1)?.seen.received ?? 0) + (TRANSFERS[transfer] ?? 0),
  sequence: null,
});

export function transfersScenario(lab: Lab, name: string, rule: Rule): Scenario {
  return {
    name,
    lab,
    faultChance: 0.15,
    maxSteps: 4_000,
    start(world) {
      const bugs: unknown[] = [];
      let passes = 0;
      for (let pass = 0; pass < PASSES; pass++) {
        insist({
          world,
          attempt: (client) => applyAll(lab, world, client, rule),
          onDone: () => passes++,
          onBug: (error) => bugs.push(error),
          isFault: (error) => faultKind(error) !== "other",
        });
      }
      return () => {
        if (bugs.length > 0) return `a bug: ${bugs[0]}`;
        if (passes !== PASSES) return `${passes} passes came to an end`;
        const history = lab
          .rows("SELECT data FROM events ORDER BY sequence, rowid")
          .map((row) => JSON.parse(String(row.data)));
        if (history.length !== TRANSFERS.length) return `${history.length} events for ${TRANSFERS.length} transfers`;
        const received = history.at(-1).received;
        return received === 100 ? undefined : `100 were sent and ${received} received`;
      };
    },
  };
}

async function applyAll(lab: Lab, world: World, client: Client, rule: Rule): Promise<Attempt<"applied">> {
  const db = lab.db(world.effectOf(client));
  const sleep = world.sleepOf(client);
  for (const [transfer] of TRANSFERS.entries()) {
    const read = await readWithRetry(sleep, async () =>
      db
        .select({ sequence: events.sequence, data: events.data })
        .from(events)
        .where(eq(events.invoiceId, INVOICE))
        .orderBy(asc(events.sequence), sql`rowid`),
    );
    if (!read.ok) return { kind: "again", afterMs: 500 };
    const history = read.value.map((row) => ({ sequence: row.sequence ?? 0, seen: JSON.parse(row.data) as Seen }));
    const change = rule(history, transfer);
    if (change === undefined) continue;
    const { received, sequence } = change;
    const event = db.insert(events).values({
      id: derivedId("evt", world.newUlid()),
      merchantId: MERCHANT,
      type: "payment.detected",
      invoiceId: INVOICE,
      sequence,
      data: JSON.stringify({ transfer, received } satisfies Seen),
      createdAtMs: world.nowMs,
    });
    try {
      await withinLimit(sleep, db.batch([event]));
    } catch (error) {
      if (batchConflict(error) === undefined && faultKind(error) === "other") throw error;
      return { kind: "again", afterMs: 100 };
    }
  }
  return { kind: "done", value: "applied" };
}
