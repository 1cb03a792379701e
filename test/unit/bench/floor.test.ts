// The benchmarks compare the product with the floor. The floor's statements and object calls are listed here, so that they cannot change unnoticed.
import { describe, expect, test } from "vitest";
import { create, type FloorEnv, type Shape } from "../../../bench/floor/create.ts";
import { FIRST_ADDRESSES, floorDerivation, ZPUB } from "../../../bench/floor/derive.ts";
import { CreateGroups, type GroupEnv } from "../../../bench/floor/group.ts";
import { AddressIndex, GroupIndices, KeyReservations, type ObjectSql } from "../../../bench/floor/objects.ts";

const FIND_KEY = "SELECT id,merchant_id,kind,permissions FROM api_key WHERE hash=? AND revoked_at IS NULL";
const CUSTOMER = "INSERT INTO customer (id,merchant_id,email,name,address,phone,created_at) VALUES (?,?,?,?,?,?,?)";
const INVOICE =
  "INSERT INTO invoice (id,merchant_id,customer_id,name,description,redirect_url,raw_amount,end_amount,currency,status,expires_at,created_at,updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)";
const TIMELINE = "INSERT INTO timeline VALUES (?,?,?,?)";
const PAYMENT = "INSERT INTO payment VALUES (?,?,?,?,?)";
const ANSWER = "INSERT INTO idem VALUES (?,?,?,?,?)";
const RESERVE = ["SELECT h,res FROM idem WHERE k=?", "INSERT INTO idem (k,h,at) VALUES (?,?,?)"];
const COMPLETE = ["UPDATE idem SET res=? WHERE k=?"];
const ALLOCATE = ["SELECT idx FROM w WHERE id=1", "UPDATE w SET idx=? WHERE id=1", "INSERT INTO a VALUES (?,?,?)"];
const RESERVE_WITH_INDEX = [
  "SELECT h,res FROM idem WHERE k=?",
  "CREATE TABLE IF NOT EXISTS w (id INTEGER PRIMARY KEY, idx INTEGER NOT NULL)",
  "INSERT INTO w VALUES (1,1) ON CONFLICT (id) DO UPDATE SET idx=idx+1 RETURNING idx",
  "INSERT INTO idem (k,h,res,at) VALUES (?,?,?,?)",
];

const FIND_KEYS =
  "SELECT hash,merchant_id,permissions FROM api_key WHERE hash IN (SELECT value FROM json_each(?)) AND revoked_at IS NULL";
const FIND_ANSWERS = "SELECT k,h,res FROM idem WHERE merchant_id='mer_1' AND k IN (SELECT value FROM json_each(?))";
const CUSTOMERS =
  "INSERT INTO customer (id,merchant_id,email,name,address,phone,created_at) SELECT value->>0,value->>1,value->>2,value->>3,value->>4,value->>5,value->>6 FROM json_each(?)";
const INVOICES =
  "INSERT INTO invoice (id,merchant_id,customer_id,name,description,redirect_url,raw_amount,end_amount,currency,status,expires_at,created_at,updated_at) SELECT value->>0,value->>1,value->>2,value->>3,value->>4,value->>5,value->>6,value->>7,value->>8,value->>9,value->>10,value->>11,value->>12 FROM json_each(?)";
const TIMELINES = "INSERT INTO timeline SELECT value->>0,value->>1,value->>2,value->>3 FROM json_each(?)";
const PAYMENTS = "INSERT INTO payment SELECT value->>0,value->>1,value->>2,value->>3,value->>4 FROM json_each(?)";
const ANSWERS = "INSERT INTO idem SELECT value->>0,value->>1,value->>2,value->>3,value->>4 FROM json_each(?)";
const TAKE_INDICES = "INSERT INTO w VALUES (1,?) ON CONFLICT (id) DO UPDATE SET idx=idx+excluded.idx RETURNING idx";

/** Round trips in order: each call, with the statements that ran in it. */
type Trace = [string, ...string[]][];

const EXPECTED: Record<Shape, Trace> = {
  FULL: [
    ["d1", FIND_KEY],
    ["reserve", ...RESERVE],
    ["d1 batch", CUSTOMER, INVOICE, TIMELINE],
  ],
  FULL2: [
    ["d1", FIND_KEY],
    ["reserve", ...RESERVE],
    ["d1 batch", CUSTOMER, INVOICE, TIMELINE],
    ["complete", ...COMPLETE],
  ],
  FULLD: [
    ["d1", FIND_KEY],
    ["reserve", ...RESERVE],
    ["allocate", ...ALLOCATE],
    ["d1 batch", CUSTOMER, INVOICE, TIMELINE, PAYMENT],
    ["complete", ...COMPLETE],
  ],
  FULLM: [
    ["d1", FIND_KEY],
    ["reserveWithIndex", ...RESERVE_WITH_INDEX],
    ["d1 batch", CUSTOMER, INVOICE, TIMELINE, PAYMENT, ANSWER],
  ],
};

/** A floor whose storage answers from memory and records every round trip. */
function tracedFloor(): { env: FloorEnv; trace: Trace } {
  const trace: Trace = [];
  const run = <T>(call: string, work: (sql: ObjectSql) => T): T => {
    const step: [string, ...string[]] = [call];
    const result = work({
      exec: (sql) => {
        step.push(sql);
        return { toArray: () => (sql.includes("idx") && !sql.startsWith("UPDATE") ? [{ idx: 1 }] : []) };
      },
    });
    trace.push(step);
    return result;
  };
  /** The object has already been started, so that creating its tables is not part of a call. */
  const started = <T>(make: (sql: ObjectSql) => T, sql: ObjectSql): T => {
    let isStarted = false;
    const quiet: ObjectSql = { exec: (...args) => (isStarted ? sql.exec(...args) : { toArray: () => [] }) };
    const object = make(quiet);
    isStarted = true;
    return object;
  };
  const reservations = (sql: ObjectSql) => started((each) => new KeyReservations(each), sql);
  const statement = (sql: string) => ({
    sql,
    bind: () => statement(sql),
    first: async () => {
      trace.push(["d1", sql]);
      return { merchant_id: "mer_1" };
    },
  });
  const db = {
    prepare: statement,
    batch: async (statements: { sql: string }[]) =>
      void trace.push(["d1 batch", ...statements.map((each) => each.sql)]),
  };
  const env: FloorEnv = {
    db: db as unknown as FloorEnv["db"],
    reservationsOf: () => ({
      reserve: async (key, hash) => run("reserve", (sql) => reservations(sql).reserve(key, hash, 0)),
      complete: async (key, answer) => run("complete", (sql) => reservations(sql).complete(key, answer)),
      reserveWithIndex: async (key, hash) =>
        run("reserveWithIndex", (sql) => reservations(sql).reserveWithIndex(key, hash, 0)),
    }),
    allocate: async (_wallet, invoiceId) =>
      run("allocate", (sql) => started((each) => new AddressIndex(each), sql).allocate(invoiceId)),
    addressAt: floorDerivation(ZPUB),
    nowMs: () => 0,
  };
  return { env, trace };
}

/** The bindings of the object that answers in groups, with a storage that records every round trip and the values bound to each statement. */
function tracedGroups(): { env: { db: GroupEnv["db"] } & GroupEnv; trace: string[][]; values: Map<string, unknown[]> } {
  const trace: string[][] = [];
  const values = new Map<string, unknown[]>();
  const found: Record<string, object[]> = {
    [FIND_KEYS]: [{ hash: "hash", merchant_id: "mer_1" }],
    [FIND_ANSWERS]: [{ k: "known" }],
  };
  const db = {
    prepare: (sql: string) => ({
      bind: (json: string) => {
        values.set(sql, JSON.parse(json));
        return { sql };
      },
    }),
    batch: async (statements: { sql: string }[]) => {
      trace.push(["d1 batch", ...statements.map(({ sql }) => sql)]);
      return statements.map(({ sql }) => ({ results: found[sql] ?? [] }));
    },
  };
  let taken = 0;
  const indices = new GroupIndices({
    exec: (sql, count) => {
      if (sql.startsWith("CREATE")) return { toArray: () => [] };
      trace.push(["take indices", sql]);
      taken += Number(count);
      return { toArray: () => [{ idx: taken }] };
    },
  });
  const env = {
    db: db as unknown as GroupEnv["db"],
    takeIndices: (count: number) => indices.take(count),
    addressAt: floorDerivation(ZPUB),
    nowMs: () => 0,
    nextTurn: async () => {},
  };
  return { env, trace, values };
}

describe("the floor", () => {
  for (const shape of ["FULL", "FULL2", "FULLD", "FULLM"] as const) {
    test(`${shape} runs exactly the listed statements and object calls`, async () => {
      const { env, trace } = tracedFloor();
      const request = { apiKey: "sk_x", idempotencyKey: "k", rawBody: '{"name":"Order","rawAmount":1}' };
      const [status] = await create(shape, env, request);
      expect(status).toBe(201);
      expect(trace).toEqual(EXPECTED[shape]);
    });
  }

  for (const isDerived of [false, true]) {
    test(`${isDerived ? "GROUPD" : "GROUP"} runs one read batch and one write batch for all invoices that are created in a group`, async () => {
      const { env, trace, values } = tracedGroups();
      const groups = new CreateGroups(env);
      const body = { name: "Order", rawAmount: 1 };
      const create = { keyHash: "hash", bodyHash: "h", body, isDerived };
      const send = (idempotencyKey: string) => groups.create({ ...create, idempotencyKey });
      const answers = await Promise.all(["a", "b", "c"].map(send));
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
      expect(trace).toEqual([
        ["d1 batch", FIND_KEYS, FIND_ANSWERS],
        ...(isDerived ? [["take indices", TAKE_INDICES]] : []),
        ["d1 batch", CUSTOMERS, INVOICES, TIMELINES, ...(isDerived ? [PAYMENTS] : []), ANSWERS],
      ]);
      expect(values.get(INVOICES)).toHaveLength(3);
      const addresses = answers.map(({ json }) => JSON.parse(json).address);
      expect(addresses.slice(0, 2)).toEqual(isDerived ? FIRST_ADDRESSES : [undefined, undefined]);
    });
  }

  test("adds requests that arrive while a group is in flight to the next group", async () => {
    const { env, trace } = tracedGroups();
    const groups = new CreateGroups(env);
    const create = { keyHash: "hash", bodyHash: "h", body: { name: "Order", rawAmount: 1 }, isDerived: false };
    const batch = env.db.batch;
    let later: Promise<unknown> | undefined;
    env.db.batch = <T>(statements: D1PreparedStatement[]) => {
      later ??= Promise.all(["b", "c"].map((idempotencyKey) => groups.create({ ...create, idempotencyKey })));
      return batch<T>(statements);
    };
    await groups.create({ ...create, idempotencyKey: "a" });
    await later;
    expect(trace).toHaveLength(4);
  });

  test("answers 401 to an unknown key and 409 to a used idempotency key, and serves the other requests of the group", async () => {
    const { env } = tracedGroups();
    const groups = new CreateGroups(env);
    const create = { bodyHash: "h", body: { name: "Order", rawAmount: 1 }, isDerived: false };
    const answers = await Promise.all([
      groups.create({ ...create, keyHash: "other", idempotencyKey: "a" }),
      groups.create({ ...create, keyHash: "hash", idempotencyKey: "known" }),
      groups.create({ ...create, keyHash: "hash", idempotencyKey: "b" }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 409, 201]);
  });

  test("derives the addresses of BIP84's test vectors", () => {
    const addressAt = floorDerivation(ZPUB);
    expect([addressAt(0), addressAt(1)]).toEqual(FIRST_ADDRESSES);
  });
});
