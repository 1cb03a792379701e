// The product is compared with the floor, whose statements and object calls are listed here, so that they cannot change unnoticed.
import { describe, expect, test } from "vitest";
import { create, type FloorEnv, type Shape } from "../../../bench/floor/create.ts";
import { FIRST_ADDRESSES, floorDerivation, ZPUB } from "../../../bench/floor/derive.ts";
import { AddressIndex, KeyReservations, type ObjectSql } from "../../../bench/floor/objects.ts";

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

/** Round trips in order: the call, and the statements that ran in it. */
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
  /** An object that was already started: its table set-up is not part of a call. */
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

  test("derives the addresses of BIP84's test vectors", () => {
    const addressAt = floorDerivation(ZPUB);
    expect([addressAt(0), addressAt(1)]).toEqual(FIRST_ADDRESSES);
  });
});
