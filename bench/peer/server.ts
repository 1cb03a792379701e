// The peer's own process: creates invoices with Fastify and PostgreSQL, as a Node service would. One transaction per create, a prepared statement for
// each step; nothing is validated, as on the floor. With `/create-derived` the wallet's row is locked while its next address is derived and stored,
// because two creates must not get the same address.
import { createHash } from "node:crypto";
import Fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import pg from "pg";
import { type CreateBody, invoiceRows, newId } from "../floor/invoice.ts";
import { peerDerivation } from "./derive.ts";
import type { PeerReply, PeerStart } from "./peer.ts";
import { COUNT_ROWS, STATEMENTS } from "./sql.ts";

/** The library's default. With 16, 32 or 64 connections, two cores did not create more invoices. */
const CONNECTIONS = 10;

process.once("message", (start: PeerStart) => {
  serve(start).then(
    (port) => reply({ port }),
    (error: Error) => reply({ error: error.message }),
  );
});

// The benchmark's process has ended.
process.once("disconnect", () => process.exit());

function reply(message: PeerReply): void {
  process.send?.(message);
}

async function serve({ postgres }: PeerStart): Promise<number> {
  const pool = new pg.Pool({ ...postgres, max: CONNECTIONS });
  const addressAt = peerDerivation();
  const app = Fastify();
  // Kept as text, because its hash is stored with the key.
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (_request, text, done) =>
    done(null, text),
  );
  app.post("/create", (request, answer) => create(pool, request, answer));
  app.post("/create-derived", (request, answer) => create(pool, request, answer, addressAt));
  app.get("/count", async () => (await pool.query(COUNT_ROWS)).rows[0]);
  return Number(new URL(await app.listen({ host: "127.0.0.1", port: 0 })).port);
}

type AddressAt = (index: number) => string;

async function create(pool: pg.Pool, request: FastifyRequest, answer: FastifyReply, addressAt?: AddressAt) {
  const client = await pool.connect();
  try {
    const keyHash = sha256Hex(String(request.headers["x-api-key"]));
    const [found] = (await run(client, "findKey", [keyHash])).rows;
    if (found === undefined) return answer.code(401).send({ statusCode: 401 });
    const create = { merchantId: found.merchant_id, key: String(request.headers["idempotency-key"]), addressAt };
    const json = await inTransaction(client, () => createInvoice(client, create, String(request.body)));
    if (json === undefined) return answer.code(409).send({ statusCode: 409 });
    return answer.code(201).type("application/json").send(json);
  } finally {
    client.release();
  }
}

interface Create {
  readonly merchantId: string;
  readonly key: string;
  readonly addressAt: AddressAt | undefined;
}

/** The invoice as JSON; undefined if the idempotency key is known. */
async function createInvoice(client: pg.PoolClient, create: Create, rawBody: string): Promise<string | undefined> {
  const { merchantId, key, addressAt } = create;
  const nowMs = Date.now();
  const reserved = await run(client, "reserveKey", [merchantId, key, sha256Hex(rawBody), nowMs]);
  if (reserved.rowCount === 0) return undefined;
  const body: CreateBody = JSON.parse(rawBody);
  const rows = invoiceRows(merchantId, body, nowMs);
  const { id } = rows.answer;
  await run(client, "insertCustomer", rows.customer);
  await run(client, "insertInvoice", rows.invoice);
  await run(client, "insertTimelineItem", rows.timeline);
  let invoice: object = rows.answer;
  if (addressAt !== undefined) {
    const [taken] = (await run(client, "takeIndex", [merchantId])).rows;
    const address = addressAt(taken.index);
    await run(client, "insertMethod", [newId("pay"), id, address, nowMs]);
    invoice = { ...rows.answer, address };
  }
  const json = JSON.stringify(invoice);
  await run(client, "insertEvent", [merchantId, id, json, nowMs]);
  await run(client, "keepAnswer", [merchantId, key, json]);
  return json;
}

async function inTransaction<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  await client.query("BEGIN");
  try {
    const result = await work();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}

function run(client: pg.PoolClient, name: keyof typeof STATEMENTS, values: readonly unknown[]) {
  return client.query({ name, text: STATEMENTS[name], values: [...values] });
}

function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
