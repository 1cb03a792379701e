// Several changes that are written together, and several reads that are sent together, must have the same results as separate ones. This must hold
// for any mix of joinable and other statements, with texts so long that not all fit into one parameter.
import { eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { type MerchantId, makeId } from "../../../src/lib/ids.ts";
import { SYSTEM_TRAIL } from "../../../src/platform/audit/entry.ts";
import { insertAudit, selectAuditId } from "../../../src/platform/audit/store.ts";
import { batch, commit } from "../../../src/platform/db/batch.ts";
import { joinReads, joinStatements } from "../../../src/platform/db/joined-statements.ts";
import { PreparedStatement } from "../../../src/platform/db/prepared-statement.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { operations } from "../../../src/platform/db/schema/operations.ts";
import type { Statement } from "../../../src/platform/db/statement.ts";
import { insertOperation, selectOperation } from "../../../src/platform/idempotency/store.ts";
import { Dice } from "../../support/dice.ts";
import { quietLab } from "../detection/quiet-lab.ts";
import { CAMPAIGN_LIMIT_MS, campaignSeeds, eachSeed, schedulesOf } from "../engine/campaign.ts";

const count = schedulesOf(60);
const MERCHANT: MerchantId = makeId("mer", "0".repeat(26));
/** In characters; each counts as six bytes, and a parameter may have a million bytes. */
const LENGTHS = [0, 10, 200, 30_000, 55_000, 83_000, 170_000];
const [together, alone] = [quietLab(), quietLab()];
const noted = new Set<string>();

interface Write {
  readonly kind: number;
  readonly n: number;
  readonly first: number;
  readonly text: string;
}

const ulid = (n: number) => String(n).padStart(26, "0");

/** A statement of a change, numbered from `first`, the same for both databases. */
function writeOf(db: typeof together.db, { kind, n, first, text }: Write): Statement {
  if (kind === 0)
    return insertOperation(db, {
      id: ulid(n),
      merchantId: MERCHANT,
      status: 201,
      body: text,
      bodyAt: null,
      createdAtMs: n,
    });
  if (kind === 1) {
    const entry = {
      id: makeId("aud", ulid(n)),
      merchantId: MERCHANT,
      action: "invoice.created",
      target: text,
    } as const;
    return insertAudit(db, SYSTEM_TRAIL, entry, n);
  }
  return db
    .update(operations)
    .set({ status: n })
    .where(eq(operations.id, ulid(first)));
}

function readOf(db: typeof together.db, kind: number, n: number): Statement {
  if (kind === 0) return selectOperation(db, { merchantId: MERCHANT, operationId: ulid(n) });
  if (kind === 1) return selectAuditId(db, makeId("aud", ulid(n)));
  return db
    .select({ id: operations.id, status: operations.status })
    .from(operations)
    .where(eq(operations.id, ulid(n)));
}

const isJoined = (statement: PreparedStatement<unknown>) => statement.toSQL().sql.includes("json_each");
const all = (statements: readonly Statement[]) => statements as readonly [Statement, ...Statement[]];
const stored = async (db: typeof together.db) => [
  await db.select().from(operations).orderBy(operations.id),
  await db.select().from(auditEvents).orderBy(auditEvents.id),
];

async function history(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const texts = dice.chance(0.3) ? LENGTHS : LENGTHS.slice(0, 3);
  let n = 0;
  const changes = Array.from({ length: dice.between(1, 12) }, () => {
    const first = n;
    return Array.from({ length: dice.between(1, 5) }, (): Write => {
      return { kind: dice.below(3), n: n++, first, text: "x".repeat(dice.oneOf(texts)) };
    });
  });
  const listsFor = (db: typeof together.db) => changes.map((of) => of.map((each) => writeOf(db, each)));
  const joined = joinStatements(listsFor(together.db));
  if (joined.length < n) noted.add("joined");
  const longOnes = joined.filter((each) => each instanceof PreparedStatement && isJoined(each));
  if (longOnes.length > 2) noted.add("in parts");
  await commit(together.db, joined);
  for (const list of listsFor(alone.db)) await batch(alone.db, all(list));
  // The texts are too long to print.
  expect(JSON.stringify(await stored(together.db)) === JSON.stringify(await stored(alone.db))).toBe(true);
  const reads = Array.from({ length: dice.between(1, 9) }, () =>
    Array.from({ length: dice.between(1, 4) }, () => ({ kind: dice.below(3), n: dice.below(n + 1) })),
  );
  const { statements, resultsOf } = joinReads(
    reads.map((of) => of.map((each) => readOf(together.db, each.kind, each.n))),
  );
  if (statements.length < reads.flat().length) noted.add("read once");
  const results = resultsOf(await batch(together.db, all(statements)));
  for (const [at, of] of reads.entries())
    expect(results[at]).toEqual(await batch(alone.db, all(of.map((each) => readOf(alone.db, each.kind, each.n)))));
}

it(
  `joined statements have the same effect as separate ones: ${count} batches`,
  async () => {
    await eachSeed(campaignSeeds(count), (seed) => together.inLab(() => alone.inLab(() => history(seed))));
    expect(noted).toEqual(new Set(["joined", "in parts", "read once"]));
  },
  CAMPAIGN_LIMIT_MS,
);
