// Several changes that are joined into one batch must write the same as separate batches.
import { eq, sql } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { putMethod } from "../../../../src/commerce/invoice-records/store.ts";
import type { AuditId, EventId, InvoiceId, MerchantId, TimelineItemId, WalletId } from "../../../../src/lib/ids.ts";
import { commit } from "../../../../src/platform/db/batch.ts";
import { type Db, openDb } from "../../../../src/platform/db/client.ts";
import { joinStatements } from "../../../../src/platform/db/joined-statements.ts";
import { preparedInsert } from "../../../../src/platform/db/prepared-statement.ts";
import { auditEvents } from "../../../../src/platform/db/schema/audit-events.ts";
import { timelineItems } from "../../../../src/platform/db/schema/invoices.ts";
import type { Write } from "../../../../src/platform/db/statement.ts";
import { recordOutbox } from "../../../../src/platform/events/store.ts";
import { migratedDatabase, savepoints, sqliteD1, statementCache } from "../../../simulation/engine/sqlite-d1.ts";
import { RUNS } from "../../../support/property-runs.ts";

const insertItem = preparedInsert(timelineItems);
const insertEntry = preparedInsert(auditEvents);

const MERCHANT: MerchantId = "mer_1";
const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("1", "01", "1e3", "null", '{"a":1}', "ü€👋", "'"),
);
const step = fc.oneof(
  fc.record({ kind: fc.constant("item" as const), timeMs: fc.nat({ max: Number.MAX_SAFE_INTEGER }) }),
  fc.record({ kind: fc.constant("entry" as const), after: fc.option(texts) }),
  fc.record({
    kind: fc.constant("method" as const),
    rate: fc.option(texts),
    units: fc.bigInt({ min: 0n, max: 10n ** 30n }),
  }),
  fc.record({ kind: fc.constant("events" as const), count: fc.integer({ min: 1, max: 3 }), data: texts }),
  fc.record({ kind: fc.constant("update" as const), timeMs: fc.nat() }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const changes = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 6 });

const lonely = /\p{Surrogate}/gu;
/** Text that storage accepts. Requests with NUL or lone surrogates are refused (decisions 1). */
const stored = (text: string) => text.replaceAll("\0", "").replaceAll(lonely, "");

/** The statements of change `c`. Each change has its own invoice, and all its rows belong to it. */
function statementsOf(db: Db, steps: readonly Step[], c: number): Write[] {
  const invoiceId: InvoiceId = `inv_${c}`;
  return steps.flatMap((each, n) => statementsFor(db, { each, n, c, invoiceId }));
}

function statementsFor(
  db: Db,
  {
    each,
    n,
    c,
    invoiceId,
  }: { readonly each: Step; readonly n: number; readonly c: number; readonly invoiceId: InvoiceId },
): readonly Write[] {
  const id = `${String(c).padStart(3, "0")}${String(n).padStart(23, "0")}`;
  switch (each.kind) {
    case "item": {
      const item = { id: `itl_${id}` satisfies TimelineItemId, invoiceId, position: n, timeMs: each.timeMs } as const;
      return [insertItem(db, { ...item, paymentStatus: "AWAITING_PAYMENT" })];
    }
    case "entry": {
      const nobody = { actorKind: "SYSTEM", actorId: null, ip: null, requestId: null } as const;
      const after = each.after === null ? null : stored(each.after);
      const about = {
        merchantId: MERCHANT,
        action: "invoice.updated",
        target: invoiceId,
        before: null,
        after,
      } as const;
      return [insertEntry(db, { id: `aud_${id}` satisfies AuditId, ...nobody, ...about, createdAtMs: n })];
    }
    case "method":
      return [putMethod(db, methodOf(invoiceId, each))];
    case "events":
      return recordOutbox(
        db,
        Array.from({ length: each.count }, (_, k) => ({
          id: `evt_${id.slice(0, 3)}${id.slice(5)}${String(k).padStart(2, "0")}` satisfies EventId,
          merchantId: MERCHANT,
          type: "invoice.updated" as const,
          invoiceId,
          sequence: n * 10 + k,
          ...beginningAlike(stored(each.data), k),
          createdAtMs: n,
        })),
      );
    case "update":
      return [db.update(timelineItems).set({ timeMs: each.timeMs }).where(eq(timelineItems.invoiceId, invoiceId))];
  }
}

/** The data of one event. All events of a change have the same start, and some have their own number after it. */
function beginningAlike(text: string, k: number) {
  const head = JSON.stringify({ data: text }).slice(0, -1);
  return { data: k === 1 ? `${head}}` : `${head},"k":${k}}`, headLength: head.length };
}

function methodOf(invoiceId: InvoiceId, of: { readonly rate: string | null; readonly units: bigint }) {
  const place = { cryptocurrency: "USDT", network: "ETH", address: "0x1", addressIndex: null, reason: null } as const;
  return {
    ...({
      invoiceId,
      merchantId: MERCHANT,
      walletId: "wal_1" satisfies WalletId,
      walletType: "DIRECT_WALLET",
    } as const),
    ...({
      ...place,
      status: "ACTIVE",
      amountUnits: of.units,
      rate: of.rate === null ? null : stored(of.rate),
    } as const),
    rateAtMs: 1,
    rateSources: '["a","b"]',
    quotedAtMs: 1,
    quoteForMicros: 9_000_000_000_000_000n,
    lockedUntilMs: 2,
    quotes: "[]",
    requiredConfirmations: 1,
    mac: null,
    macKeyId: null,
    activatedAtMs: 3,
    remainderUnits: null,
    isFromPublicKey: false,
  };
}

/** A shop with one endpoint that subscribes to everything, so that events have deliveries. */
function freshShop() {
  const sqlite = migratedDatabase();
  sqlite.exec(`insert into webhooks (id, merchant_id, url, events, timeout_ms, is_active, retry_count, failures_in_row, created_at_ms, updated_at_ms)
    values ('whk_00000000000000000000000001', '${MERCHANT}', 'https://a.example', '["*"]', 1000, 1, 0, 0, 0, 0)`);
  const heard: string[] = [];
  const d1 = sqliteD1(statementCache(sqlite), savepoints(sqlite), async (_, work) => work());
  const note = (kind: string) => (ids: readonly string[]) => void heard.push(...ids.map((id) => `${kind} ${id}`));
  const db = openDb(d1, { wake: note("wake"), tell: note("tell") });
  const rows = (query: string) => sqlite.prepare(query).all();
  const all = () => ({
    items: rows("select *, typeof(time_ms) from timeline_items order by id"),
    entries: rows("select *, typeof(after) from audit_events order by id"),
    methods: rows("select *, typeof(rate), typeof(quote_for_micros) from payment_methods order by invoice_id"),
    events: rows("select * from events order by id"),

    deliveries: rows("select id, webhook_id, event_id, status, next_attempt_ms, claim from deliveries order by id"),
    // Pollers follow the row ids, so for each invoice the row ids must have the same order as the sequence.
    orders: rows(
      "select invoice_id, group_concat(sequence) from (select * from events order by rowid) group by invoice_id",
    ),
  });
  const clear = () => {
    for (const table of ["timeline_items", "audit_events", "payment_methods", "events", "deliveries"])
      sqlite.exec(`delete from ${table}`);
    heard.length = 0;
  };
  return { db, all, heard: () => new Set(heard), clear };
}

describe("changes joined into one batch", () => {
  it("write and announce the same as changes in separate batches", async () => {
    const [apart, together] = [freshShop(), freshShop()];
    await fc.assert(
      fc.asyncProperty(changes, async (wanted) => {
        apart.clear();
        together.clear();
        for (const [c, steps] of wanted.entries()) await commit(apart.db, statementsOf(apart.db, steps, c));
        const joined = joinStatements(wanted.map((steps, c) => statementsOf(together.db, steps, c)));
        await commit(together.db, joined);
        expect(together.all()).toEqual(apart.all());
        expect(together.heard()).toEqual(apart.heard());
      }),
      { numRuns: RUNS / 5 },
    );
  });

  it("have as many statements as one change if they differ only in their values", () => {
    const { db } = freshShop();
    const steps: readonly Step[] = [
      { kind: "entry", after: "a" },
      { kind: "item", timeMs: 1 },
      { kind: "events", count: 2, data: "x" },
      { kind: "method", rate: "1", units: 5n },
    ];
    const lists = Array.from({ length: 50 }, (_, c) => statementsOf(db, steps, c));
    // Even the two events of one change are written in one statement.
    expect(joinStatements(lists)).toHaveLength((lists[0]?.length ?? 0) - 1);
    expect(joinStatements(lists.slice(0, 1))).toHaveLength((lists[0]?.length ?? 0) - 1);
  });

  it("are split if a joined value would be longer than D1 accepts", async () => {
    const { db, all } = freshShop();
    const long = "x".repeat(60_000);
    const lists = Array.from({ length: 20 }, (_, c) => statementsOf(db, [{ kind: "entry", after: long }], c));
    const joined = joinStatements(lists);
    expect(joined).toHaveLength(10);
    await commit(db, joined);
    expect(all().entries).toHaveLength(20);
  });

  it("do not join statements that drizzle builds or that return rows to their caller", () => {
    const { db } = freshShop();
    const select = () => db.select({ one: sql`1` }).from(timelineItems);
    expect(joinStatements([[select()], [select()]])).toHaveLength(2);
  });
});
