// One create's rows and answer, the same for every shape of the floor.
import type { SqlValue } from "./objects.ts";

export interface CreateBody {
  readonly name: string;
  readonly rawAmount: number;
  readonly currency?: string;
  readonly customerEmail?: string;
  readonly customerName?: string;
  readonly customerAddress?: string;
  readonly customerPhoneNumber?: string;
  readonly description?: string;
  readonly redirectUrl?: string;
}

type Row = readonly SqlValue[];

interface InvoiceRows {
  readonly customer: Row;
  readonly invoice: Row;
  readonly timeline: Row;
  /** The invoice in the answer. */
  readonly answer: { readonly id: string };
}

const ID_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LIFETIME_MS = 3_600_000;

/** Values in the order of the columns in sql.ts. */
export function invoiceRows(merchantId: string, body: CreateBody, nowMs: number): InvoiceRows {
  const [id, customerId, itemId] = [newId("inv"), newId("cus"), newId("itl")];
  const amount = body.rawAmount.toFixed(6);
  const currency = body.currency ?? "USD";
  const email = body.customerEmail ?? null;
  const name = body.customerName ?? null;
  const address = body.customerAddress ?? null;
  const phoneNumber = body.customerPhoneNumber ?? null;
  const description = body.description ?? null;
  const redirectUrl = body.redirectUrl ?? null;
  const status = "AWAITING_PAYMENT";
  const expiresAtMs = nowMs + LIFETIME_MS;
  const time = new Date(nowMs).toISOString();
  const answer = {
    id,
    merchantId,
    customerId,
    productId: null,
    name: body.name,
    description,
    redirectUrl,
    rawAmount: amount,
    endAmount: amount,
    currency,
    status,
    expiresAt: new Date(expiresAtMs).toISOString(),
    createdAt: time,
    updatedAt: time,
    customer: { id: customerId, email, name, address, phoneNumber },
    product: null,
    payments: [],
    invoiceTimeline: [{ id: itemId, invoiceId: id, paymentStatus: status, time }],
  };
  const price: Row = [amount, amount, currency];
  const times: Row = [expiresAtMs, nowMs, nowMs];
  return {
    customer: [customerId, merchantId, email, name, address, phoneNumber, nowMs],
    invoice: [id, merchantId, customerId, body.name, description, redirectUrl, ...price, status, ...times],
    timeline: [itemId, id, status, nowMs],
    answer,
  };
}

/** 26 characters: 10 of time, 16 of randomness. */
export function newId(prefix: string): string {
  let rest = Date.now();
  let time = "";
  for (let i = 0; i < 10; i++) {
    time = ID_ALPHABET.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  let random = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) random += ID_ALPHABET.charAt(byte & 31);
  return `${prefix}_${time}${random}`;
}
