// How the twin's database refuses and delays statements, compared with D1's documentation. D1 runs one statement at a time per database, limits the
// time of a statement including its wait, and limits how many statements wait.
import { afterEach, describe, expect, it } from "vitest";
import { faultKind } from "../../../src/platform/db/retry.ts";
import { randomFrom } from "../../support/random.ts";
import { type Gate, startGate } from "../../twin/gate.ts";
import { QUIET_WEATHER } from "../../twin/weather.ts";

const LIMIT_MS = 400;
const DONE = JSON.stringify({ success: true, meta: { duration: 0.5, rows_read: 3, rows_written: 2 } });

let gate: Gate | undefined;
afterEach(() => gate?.stop());

interface Given {
  /** How long each statement takes. */
  readonly ms?: number;
  readonly faults?: number;
  /** If absent, D1's own limit applies. */
  readonly queryLimitMs?: number;
  /** No statement ends before this promise has resolved. */
  readonly held?: Promise<void>;
  /** What the database answers instead of executing a statement. */
  readonly refusal?: { readonly status: number; readonly text: string };
}

/** Opens the databases `one` and `two`. `most`: the highest number of statements that ran at the same time, by database. */
async function opened({ ms = 0, faults = 0, held, refusal, ...limit }: Given = {}) {
  const [now, most, served] = [new Map<string, number>(), new Map<string, number>(), [] as string[]];
  const raw = async (database: string, _: string, body: string) => {
    now.set(database, (now.get(database) ?? 0) + 1);
    most.set(database, Math.max(most.get(database) ?? 0, now.get(database) ?? 0));
    await new Promise((go) => setTimeout(go, ms));
    await held;
    now.set(database, (now.get(database) ?? 1) - 1);
    served.push(body);
    return refusal ?? { status: 200, text: DONE };
  };
  const weather = { ...QUIET_WEATHER, faults };
  gate = await startGate({
    store: { raw },
    weather,
    random: randomFrom(1),
    ...limit,
    databaseOf: (binding) => ({ DB: "one", OTHER: "two" })[binding],
  });
  return { gate, most, served };
}

async function ask(at: Gate, sql: string, binding = "DB") {
  const beganMs = performance.now();
  const headers = { "mf-binding": binding, "mf-url": "http://d1/query" };
  const answer = await fetch(at.url, { method: "POST", headers, body: JSON.stringify({ sql }) });
  return { status: answer.status, text: await answer.text(), ms: performance.now() - beganMs };
}

const errorIn = (text: string) => new Error(`D1_ERROR: ${JSON.parse(text).error}`);

describe("the twin's database", () => {
  it("executes one statement at a time on each database, and executes statements on two databases in parallel", async () => {
    const { gate, most } = await opened({ ms: 10 });
    const calls = [..."123456"].map((n) => ask(gate, `select ${n}`, Number(n) % 2 === 0 ? "DB" : "OTHER"));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect([most.get("one"), most.get("two")]).toEqual([1, 1]);
  });

  it("executes statements in order of arrival", async () => {
    const { gate, served } = await opened({ ms: 5 });
    const statements = ["select 1", "insert 2", "select 3"];
    for (const sql of statements) {
      ask(gate, sql).catch(() => undefined);
      await expect.poll(() => gate.counts.calls).toBe(statements.indexOf(sql) + 1);
    }
    await expect.poll(() => served.map((body) => JSON.parse(body).sql)).toEqual(statements);
  });

  it("refuses a statement that has waited longer than its limit, without executing it", async () => {
    const { gate, served } = await opened({ ms: LIMIT_MS + 100, queryLimitMs: LIMIT_MS });
    const [first, second] = await Promise.all([ask(gate, "insert 1"), ask(gate, "insert 1")]);
    expect([first.status, second.status].toSorted()).toEqual([200, 500]);
    expect(served).toHaveLength(1);
    expect(faultKind(errorIn(first.status === 500 ? first.text : second.text))).toBe("transient");
  });

  it("does not answer during a stall, and answers once it is over", async () => {
    const { gate } = await opened();
    gate.stall(200);
    const answer = await ask(gate, "select 1");
    expect(answer.status).toBe(200);
    expect(answer.ms).toBeGreaterThan(190);
    expect((await ask(gate, "select 1")).status).toBe(200);
  });

  it("refuses a statement at its time limit during a longer stall, without executing it", async () => {
    const { gate, served } = await opened({ queryLimitMs: LIMIT_MS });
    gate.stall(60_000);
    const answer = await ask(gate, "select 1");
    expect([answer.status, served]).toEqual([500, []]);
    expect(answer.ms).toBeGreaterThan(LIMIT_MS - 10);
  });

  it("refuses statements as overloaded when too many are waiting", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const { gate, served } = await opened({ held });
    // One statement is being executed, and 200 are waiting.
    const calls = Array.from({ length: 210 }, () => ask(gate, "select 1"));
    await expect.poll(() => gate.counts.failed, { timeout: 20_000 }).toBe(9);
    release();
    const refused = (await Promise.all(calls)).filter(({ status }) => status !== 200);
    expect(refused.map(({ text }) => faultKind(errorIn(text)))).toEqual(refused.map(() => "overloaded"));
    expect([refused.length, served.length]).toEqual([9, 201]);
  });

  it("executes about half of the statements whose answers it replaces with faults", async () => {
    const { gate, served } = await opened({ faults: 1 });
    for (let n = 0; n < 100; n++) expect((await ask(gate, "insert 1")).status).toBe(500);
    // 3 of the 11 faults are refusals, which never start.
    expect(served.length).toBeGreaterThan(20);
    expect(served.length).toBeLessThan(55);
    expect(gate.counts.failed).toBe(100);
  });

  it("counts a statement that the database itself refuses as failed, but not as an injected fault", async () => {
    const { gate } = await opened({ refusal: { status: 500, text: '{"success":false,"error":"no such table: x"}' } });
    expect((await ask(gate, "select * from x")).status).toBe(500);
    expect(gate.counts).toMatchObject({ failed: 1, failedAt: [] });
    gate.weather = { ...QUIET_WEATHER, faults: 1 };
    expect((await ask(gate, "select * from x")).status).toBe(500);
    expect(gate.counts.failed).toBe(2);
    expect(gate.counts.failedAt).toHaveLength(1);
  });

  it("counts the rows that D1 bills, by statement", async () => {
    const { gate } = await opened();
    await ask(gate, "select * from shops where id in (?, ?, ?)");
    await ask(gate, "select * from shops where id in (?, ?)");
    expect(gate.counts).toMatchObject({ calls: 2, statements: 2, rowsRead: 6, rowsWritten: 4 });
    expect([...gate.counts.bySql]).toEqual([
      ["select * from shops where id in (?, ..)", { times: 2, ms: 1, rowsRead: 6, rowsWritten: 4 }],
    ]);
  });

  it("is reset at a given call, and counts the calls that fail because of the reset", async () => {
    const { gate } = await opened();
    const met = gate.resetFrom({ way: "write", leastBytes: 30, afterMs: 0, forMs: 1_500 });
    expect((await ask(gate, "insert 1")).status).toBe(200);
    const heavy = "insert into shops (a) values (1), (2)";
    const answers = [await ask(gate, heavy), await ask(gate, heavy), await ask(gate, "select 1")];
    expect(answers.map(({ text }) => faultKind(errorIn(text)))).toEqual(["reset", "reset", "reset"]);
    expect(met).toEqual({ calls: 3, atOnce: 1, likeFirst: 1 });
    await new Promise((go) => setTimeout(go, 1_520));
    expect((await ask(gate, heavy)).status).toBe(200);
  });

  it("answers 404 for an unknown binding", async () => {
    const { gate } = await opened();
    expect((await ask(gate, "select 1", "NONE")).status).toBe(404);
  });
});
