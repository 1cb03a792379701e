// The invoice in an event: the object that GET returns, with the newest 20 payments and timeline items, or fewer if the event would be too large. A
// client that finds `truncated` fetches the invoice for the rest.

import { utf8ToBytes } from "../../lib/bytes.ts";
import { isWithin, MAX_DATA_BYTES } from "../../platform/events/event.ts";
import type { InvoiceBody } from "./invoice-body.ts";
import type { InvoiceFacts } from "./invoice-events.ts";

const NEWEST = 20;
const FEWER = 5;

/** A change to many payments at once writes one event for each payment; this limits the total size of the lists in these events. */
const LISTS_OF_A_CHANGE_BYTES = 1_000_000;

/** Size of the rest of `data`: the invoice's id, the member names, and the list of fields that were cut. */
const MEMBERS_BYTES = 300;

type Cut = readonly [name: string, cut: (invoice: InvoiceBody) => Partial<InvoiceBody>];

/**
 * What is cut, in this order, until the event fits: first the lists, which a client gets by fetching the invoice; last the fields in which
 * integrators store their references.
 */
const LIST_CUTS: readonly Cut[] = [
  ["payments", ({ payments }) => ({ payments: payments.slice(-FEWER) })],
  ["invoiceTimeline", ({ invoiceTimeline }) => ({ invoiceTimeline: invoiceTimeline.slice(-FEWER) })],
  [
    "paymentMethods",
    ({ paymentMethods }) => ({
      paymentMethods: paymentMethods.filter(({ status }) => status === "ACTIVE").slice(0, FEWER),
    }),
  ],
];
const TEXT_CUTS: readonly Cut[] = [
  ["product.description", ({ product }) => ({ product: product && { ...product, description: null } })],
  ["description", () => ({ description: null })],
  ["redirectUrl", () => ({ redirectUrl: null })],
  ["customer.address", ({ customer }) => ({ customer: customer && { ...customer, address: null } })],
  ["resolution", () => ({ resolution: null })],
  ["metadata", () => ({ metadata: null })],
];

/**
 * The `data` of each event of one change to an invoice, in order. `facts`: the data of each event besides the invoice. `json`: the invoice as text,
 * if the caller already has it; it is reused if nothing is cut. `headLength`: the length of the beginning that all events share.
 */
export function invoiceEventData(
  { invoice, json }: { readonly invoice: InvoiceBody; readonly json?: string | undefined },
  facts: readonly InvoiceFacts[],
): readonly { readonly data: string; readonly headLength: number }[] {
  const members = facts.map((each) => JSON.stringify(each).slice(1, -1));
  const carried = cutInvoice(invoice, json, members);
  const cut = carried.truncated.length === 0 ? "" : `,"truncated":${JSON.stringify(carried.truncated)}`;
  const head = `{"invoiceId":${JSON.stringify(invoice.id)},"invoice":${carried.json}${cut}`;
  return members.map((more) => ({ data: more === "" ? `${head}}` : `${head},${more}}`, headLength: head.length }));
}

/**
 * The position of the invoice's text `json` in `data`, if `data` ends with it and a brace; undefined if other members follow, or if the invoice was
 * cut.
 */
export function invoiceAt(data: string, json: string): number | undefined {
  return data.endsWith(`${json}}`) ? data.length - json.length - 1 : undefined;
}

interface Carried {
  readonly invoice: InvoiceBody;
  readonly json: string;
  readonly truncated: readonly string[];
}

function cutInvoice(invoice: InvoiceBody, json: string | undefined, members: readonly string[]): Carried {
  const roomBytes = MAX_DATA_BYTES - MEMBERS_BYTES - Math.max(0, ...members.map((text) => utf8ToBytes(text).length));
  const listRoomBytes = Math.min(roomBytes, LISTS_OF_A_CHANGE_BYTES / members.length);
  return cutTo(roomBytes, cutTo(listRoomBytes, newestOf(invoice, json), LIST_CUTS), TEXT_CUTS);
}

function newestOf(invoice: InvoiceBody, json: string | undefined): Carried {
  const payments = invoice.payments.slice(-NEWEST);
  const invoiceTimeline = invoice.invoiceTimeline.slice(-NEWEST);
  const isWhole =
    payments.length === invoice.payments.length && invoiceTimeline.length === invoice.invoiceTimeline.length;
  const newest = isWhole ? invoice : { ...invoice, payments, invoiceTimeline };
  return { invoice: newest, json: (isWhole ? json : undefined) ?? JSON.stringify(newest), truncated: [] };
}

function cutTo(roomBytes: number, whole: Carried, cuts: readonly Cut[]): Carried {
  let now = whole;
  for (const [name, cut] of cuts) {
    if (isWithin(now.json, roomBytes)) return now;
    const invoice = { ...now.invoice, ...cut(now.invoice) };
    const json = JSON.stringify(invoice);
    if (json !== now.json) now = { invoice, json, truncated: [...now.truncated, name] };
  }
  return now;
}
