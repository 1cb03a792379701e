import { describe, expect, it } from "vitest";
import type { AuditId, EventId, MerchantId } from "../../../../src/lib/ids.ts";
import { SYSTEM_TRAIL } from "../../../../src/platform/audit/entry.ts";
import { insertAudit } from "../../../../src/platform/audit/store.ts";
import { commitChange } from "../../../../src/platform/changes/commit-change.ts";
import type { Committed } from "../../../../src/platform/db/commit-batch.ts";
import { assertions } from "../../../../src/platform/db/schema/operations.ts";
import type { OutboxEvent } from "../../../../src/platform/events/event.ts";
import { recordOutbox } from "../../../../src/platform/events/store.ts";
import { inScriptedWorld, type Script } from "../../../support/scripted-world.ts";

const EVENT: EventId = "evt_01M7Y116S5004EM2R6G33SCWPC";
const ENTRY: AuditId = "aud_01M7Y116S5004EM2R6G33SCWPC";
const MERCHANT: MerchantId = "mer_01M7Y116S5004EM2R6G33SCWPC";
const WRITTEN: OutboxEvent = {
  id: EVENT,
  merchantId: MERCHANT,
  type: "wallet.updated",
  invoiceId: null,
  sequence: null,
  data: "{}",
  createdAtMs: 0,
};

async function commit(script: Script, holds: 0 | 1 = 1) {
  const { result, seen, lab } = await inScriptedWorld<Committed>(script, async ({ effect, client, world, lab }) => {
    const deps = { db: lab.db(effect), sleep: world.sleepOf(client) };
    const fact = holds === 1 ? [] : [deps.db.insert(assertions).values({ name: "a fact", holds })];
    const entry = { id: ENTRY, merchantId: MERCHANT, action: "wallet.updated", target: "" } as const;
    const audit = insertAudit(deps.db, SYSTEM_TRAIL, entry, 0);
    return commitChange(deps, ENTRY, [...recordOutbox(deps.db, [WRITTEN]), audit, ...fact]);
  });
  return { kind: result.kind, writes: seen["d1 write"], events: lab.rows("SELECT id FROM events").length };
}

describe("a change with an event", () => {
  it("is committed once, even if its batch had to be sent several times", async () => {
    expect(await commit({})).toEqual({ kind: "committed", writes: 1, events: 1 });
    expect(await commit({ "d1 write": ["lost before", "hangs"] })).toEqual({ kind: "committed", writes: 3, events: 1 });
    expect(await commit({ "d1 write": ["answer lost"] })).toEqual({ kind: "committed", writes: 2, events: 1 });
    const lostThrice: Script = { "d1 write": ["answer lost", "lost before", "lost before"] };
    expect(await commit(lostThrice)).toEqual({ kind: "committed", writes: 3, events: 1 });
  });

  it("that conflicts is reported as a conflict if no earlier attempt can still commit", async () => {
    expect(await commit({}, 0)).toEqual({ kind: "conflict", writes: 1, events: 0 });
  });

  it("that conflicts is reported as unknown if an earlier attempt may still commit", async () => {
    expect(await commit({ "d1 write": ["hangs"] }, 0)).toEqual({ kind: "unknown", writes: 2, events: 0 });
  });

  it("is reported as unknown after three attempts, or at once when storage is overloaded", async () => {
    const three: Script = { "d1 write": ["lost before", "lost before", "lost before"] };
    expect(await commit(three)).toEqual({ kind: "unknown", writes: 3, events: 0 });
    expect(await commit({ "d1 write": ["overloaded"] })).toEqual({ kind: "unknown", writes: 1, events: 0 });
  });
});
