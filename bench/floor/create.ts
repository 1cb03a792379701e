// The minimum work of a create, without router, validation, permissions or limits; the product is compared with it.
//   FULL    key look-up, object reservation, D1 batch of 3
//   FULL2   FULL, and a second object call that keeps the answer
//   FULLD   FULL2, with a wallet object, a derivation and a payment row
//   FULLM   one merged object call, the derivation, and the answer in the D1 batch of 5
import { type CreateBody, invoiceRows, newId } from "./invoice.ts";
import { D1 } from "./sql.ts";

export const SHAPES = ["FULL", "FULL2", "FULLD", "FULLM"] as const;
export type Shape = (typeof SHAPES)[number];

export interface ReservationCalls {
  reserve(key: string, bodyHash: string): Promise<boolean>;
  complete(key: string, answer: string): Promise<void>;
  reserveWithIndex(key: string, bodyHash: string): Promise<number | undefined>;
}

export interface FloorEnv {
  readonly db: Pick<D1Database, "prepare" | "batch">;
  reservationsOf(name: string): ReservationCalls;
  allocate(walletName: string, invoiceId: string): Promise<number>;
  addressAt(index: number): string;
  nowMs(): number;
}

interface CreateRequest {
  readonly apiKey: string;
  readonly idempotencyKey: string;
  readonly rawBody: string;
}

/** Status and body. 401 for an unknown key, 409 for a known idempotency key, else 201 and the invoice. */
export async function create(shape: Shape, env: FloorEnv, request: CreateRequest): Promise<readonly [number, object]> {
  const key = await env.db
    .prepare(D1.findKey)
    .bind(await sha256Hex(request.apiKey))
    .first<{ merchant_id: string }>();
  if (key === null) return [401, { statusCode: 401 }];
  const body: CreateBody = JSON.parse(request.rawBody);
  const bodyHash = await sha256Hex(request.rawBody);
  if (shape === "FULLM") return createMerged(env, key.merchant_id, body, request.idempotencyKey, bodyHash);

  const reservations = env.reservationsOf(key.merchant_id);
  if (!(await reservations.reserve(request.idempotencyKey, bodyHash))) return [409, { statusCode: 409 }];
  const { statements, invoice, nowMs } = prepareInvoice(env, key.merchant_id, body);
  let answer: object = invoice;
  if (shape === "FULLD") {
    const address = env.addressAt(await env.allocate(key.merchant_id, invoice.id));
    answer = { ...invoice, address };
    statements.push(env.db.prepare(D1.insertPayment).bind(newId("pay"), invoice.id, address, null, nowMs));
  }
  await env.db.batch(statements);
  if (shape !== "FULL") await reservations.complete(request.idempotencyKey, JSON.stringify(answer));
  return [201, answer];
}

async function createMerged(
  env: FloorEnv,
  merchantId: string,
  body: CreateBody,
  key: string,
  bodyHash: string,
): Promise<readonly [number, object]> {
  const { statements, invoice, nowMs } = prepareInvoice(env, merchantId, body);
  const index = await env.reservationsOf(`merged-${merchantId}`).reserveWithIndex(key, bodyHash);
  if (index === undefined) return [409, { statusCode: 409 }];
  const address = env.addressAt(index);
  const answer = { ...invoice, address };
  statements.push(
    env.db.prepare(D1.insertPayment).bind(`pay_${invoice.id}`, invoice.id, address, null, nowMs),
    env.db.prepare(D1.insertAnswer).bind(merchantId, key, bodyHash, JSON.stringify(answer), nowMs),
  );
  await env.db.batch(statements);
  return [201, answer];
}

/** Prepares the statements for the customer, the invoice and the timeline item, and the invoice for the answer. */
function prepareInvoice(env: FloorEnv, merchantId: string, body: CreateBody) {
  const nowMs = env.nowMs();
  const rows = invoiceRows(merchantId, body, nowMs);
  const statements = [
    env.db.prepare(D1.insertCustomer).bind(...rows.customer),
    env.db.prepare(D1.insertInvoice).bind(...rows.invoice),
    env.db.prepare(D1.insertTimeline).bind(...rows.timeline),
  ];
  return { statements, invoice: rows.answer, nowMs };
}

export async function sha256Hex(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  let hex = "";
  for (const byte of digest) hex += (byte < 16 ? "0" : "") + byte.toString(16);
  return hex;
}
