// Documentation texts: when each event is sent, and what the members of its `data` mean. Not part of the Worker. The compiler requires a text
// for every type and every member of its data, with a question mark for optional members.

import type { EventData } from "../src/notifications/events/event-data.ts";
import type { EventType } from "../src/platform/events/event.ts";

type Members<Data> = Data extends unknown ? Extract<keyof Data, string> : never;
/** The members that are present in every variant of the data. */
type Always<Data> = { [K in keyof Data]-?: object extends Pick<Data, K> ? never : K }[keyof Data];
type Named<Data, M extends string> = M extends Always<Data> ? M : `${M}?`;

interface EventText<T extends EventType = EventType> {
  /** When the event is sent, as a sentence. */
  readonly when: string;
  readonly data: { readonly [M in Named<EventData[T], Members<EventData[T]>>]: string };
}

const invoiceId = "id of the invoice";
const invoice = "the invoice after the change, as `GET /invoices/{id}` shows it";
const truncated = "names of members of `invoice` that were shortened because the event would have been too large";
const ofInvoice = { invoiceId, invoice, "truncated?": truncated } as const;

const previousStatus = "the invoice's previous status";
const moved = { ...ofInvoice, previousStatus } as const;

const payment = "the payment, as `GET /payments/{id}` shows it without its evidence";
const ofPayment = {
  "invoiceId?": `${invoiceId}; absent if the transfer belongs to no invoice`,
  "invoice?": `${invoice}; absent in the same case`,
  ...({ "truncated?": truncated, payment } as const),
} as const;

const walletId = "id of the wallet";
const ofWallet = {
  walletId,
  wallet: "the wallet after the change, as `GET /wallets/{id}` shows it; a deleted wallet in its last state",
  fingerprint: "a short hash of the wallet's address or key; null for a deleted wallet",
  previousFingerprint: "the fingerprint before the change, or of the pair's previous wallet; null if there was none",
} as const;
const ofPair = { walletId, cryptocurrency: "the wallet's cryptocurrency", network: "the wallet's network" } as const;

const ofMember = { memberId: "id of the membership", member: "the member, as `GET /team/members` shows them" } as const;
const ofApiKey = {
  apiKeyId: "id of the key",
  apiKey: "the key, as `GET /api-keys/{id}` shows it, without its secret",
} as const;
const asInvoice = (name: string) => `Sent together with \`invoice.${name}\`, for consumers that use the older name.`;

export const EVENT_TEXTS: { readonly [T in EventType]: EventText<T> } = {
  "invoice.created": { when: "An invoice was created.", data: ofInvoice },
  "invoice.updated": {
    when: "An invoice changed in a way that no other event reports: a text, an amount, a mark or a decision about it.",
    data: ofInvoice,
  },
  "invoice.partially_paid": {
    when: "A further payment was received, but the total is still less than the amount asked for.",
    data: ofInvoice,
  },
  "invoice.pending_confirmation": {
    when: "Enough was received, but not all of it is confirmed. Do not deliver yet.",
    data: moved,
  },
  "invoice.paid": { when: "Enough was received and is confirmed: you can deliver.", data: moved },
  "invoice.underpaid": { when: "The invoice ended with less than the amount asked for.", data: moved },
  "invoice.overpaid": {
    when: "More than the amount asked for was received and is confirmed: you can deliver.",
    data: moved,
  },
  "invoice.expired": { when: "The invoice ended and no payment was received.", data: moved },
  "invoice.cancelled": { when: "The invoice was cancelled.", data: moved },
  "invoice.payment_late": {
    when: "A payment came after the invoice had ended. Depending on your settings it waits for a decision or is accepted.",
    data: { ...ofInvoice, payment },
  },
  "invoice.reversed": {
    when: "A confirmed payment disappeared: the chain was reorganised after `invoice.paid` or `invoice.overpaid`.",
    data: moved,
  },
  "invoice.marked": {
    when: "A person or a shop marked the invoice as settled by hand. Its status still says what was received: do not treat it like `invoice.paid`.",
    data: ofInvoice,
  },
  "payment.created": {
    when: "A payment method was activated, so that the customer can pay with it.",
    data: { ...ofInvoice, paymentMethod: "the method, as the invoice shows it" },
  },
  "payment.detected": { when: "A transfer was seen, in a block or in the mempool.", data: ofPayment },
  "payment.updated": {
    when: "A payment or a payment method changed in a way that no other event reports: a new block, or a new quote.",
    data: {
      ...ofInvoice,
      "payment?": payment,
      "paymentMethod?": "the method with the new quote, as the invoice shows it",
    },
  },
  "payment.confirmed": { when: "A payment has the required confirmations.", data: ofPayment },
  "payment.paid": { when: asInvoice("paid"), data: moved },
  "payment.underpaid": { when: asInvoice("underpaid"), data: moved },
  "payment.overpaid": { when: asInvoice("overpaid"), data: moved },
  "payment.expired": { when: asInvoice("expired"), data: moved },
  "payment.dropped": {
    when: "A transfer that was seen will not be mined: it was replaced or dropped.",
    data: ofPayment,
  },
  "payment.reorged": {
    when: "The block of a payment is no longer part of the chain. The payment may return in another block.",
    data: ofPayment,
  },
  "payment.unmatched": {
    when: "No rule could credit a transfer to your address to an invoice. After 100 in a day at one address within a range of value (below 1, 10, 100, 1,000 US dollars, and above), one summary for that range is sent instead. Further transfers are not stored; to store one, look up its transaction (`POST .../payments/lookup`).",
    data: {
      payment: `${payment}; null in a summary`,
      "network?": "summary: the network",
      "toAddress?": "summary: your address",
      "unmatchedToday?": "summary: how many transfers had their own event",
      "isTruncated?": "summary: true",
      "worthFrom?": "summary: lower bound of the range in US dollars",
      "worthBelow?": "summary: upper bound of the range in US dollars; null if there is none",
    },
  },
  "payment.matched": { when: "A user credited a payment to an invoice.", data: { ...ofInvoice, payment } },
  "wallet.created": { when: "A wallet was registered.", data: ofWallet },
  "wallet.updated": { when: "A wallet was changed, enabled or disabled.", data: ofWallet },
  "wallet.deleted": { when: "A wallet was deleted.", data: ofWallet },
  "wallet.gap_limit_warning": {
    when: "So many consecutive addresses were given out without a payment that wallet software will soon not find further ones.",
    data: {
      ...ofPair,
      gap: "number of addresses given out after the last one that received money",
      nextIndex: "index of the next address",
    },
  },
  "wallet.detection_degraded": {
    when: "Payments on a network where you have wallets cannot be seen for now. Nothing is lost. Sent once for each episode.",
    data: {
      network: "the network",
      degradedSince: "when it began",
      reason: "the reason as a stable code; null if unknown",
    },
  },
  "wallet.address_degraded": {
    when: "Payments to one address of an open invoice cannot be seen for now, because a source of chain data refuses the address or the address receives too many transactions. The rest of the network is not affected. Nothing is lost, and the invoice does not expire meanwhile. Sent once for each episode.",
    data: {
      network: "the network",
      address: "the address",
      degradedSince: "when it began",
      reason:
        "the reason as a stable code; `FLOODED` if the address receives more transactions than can be read at once",
    },
  },
  "wallet.amounts_low": {
    when: "80 % of the amounts that distinguish payments of one price to a shared address are in use.",
    data: { ...ofPair, address: "the shared address", amount: "the price, in whole coins" },
  },
  "team.member_joined": { when: "A user accepted an invitation.", data: ofMember },
  "team.member_removed": {
    when: "A member was removed, or left.",
    data: { ...ofMember, hasLeft: "true if the member left, false if the member was removed" },
  },
  "team.role_changed": { when: "A member has a new role.", data: { ...ofMember, previousRole: "the previous role" } },
  "team.ownership_transferred": {
    when: "The merchant has a new owner.",
    data: { owner: "the new owner, a member", previousOwner: "the previous owner, a member" },
  },
  "api_key.created": { when: "An API key was created.", data: ofApiKey },
  "api_key.rotated": { when: "An API key has a new secret.", data: ofApiKey },
  "api_key.deleted": { when: "An API key was deleted.", data: ofApiKey },
  "webhook.endpoint_disabled": {
    when: "An endpoint was switched off because it answered 410 or only failed for five days. The event goes to your other endpoints.",
    data: {
      webhookId: "id of the endpoint",
      url: "its address",
      reason: "`GONE` or `FAILING`",
      failuresInRow: "number of failures in a row",
      failingSince: "time of the first of them",
    },
  },
  ping: {
    when: "A user tests an endpoint; the event only goes to that endpoint.",
    data: { webhookId: "id of the endpoint" },
  },
};
