// When each event is sent, and what the members of its `data` mean: for people, so no part of the Worker. The compiler asks for every type and
// for every member of its data, with a question mark where it is not always there.

import type { EventData } from "../src/notifications/events/event-data.ts";
import type { EventType } from "../src/platform/events/event.ts";

type Members<Data> = Data extends unknown ? Extract<keyof Data, string> : never;
/** What every form of the data has. */
type Always<Data> = { [K in keyof Data]-?: object extends Pick<Data, K> ? never : K }[keyof Data];
type Named<Data, M extends string> = M extends Always<Data> ? M : `${M}?`;

export interface EventText<T extends EventType = EventType> {
  /** A sentence. */
  readonly when: string;
  readonly data: { readonly [M in Named<EventData[T], Members<EventData[T]>>]: string };
}

const invoiceId = "id of the invoice";
const invoice = "the invoice after the change, as `GET /invoices/{id}` shows it";
const truncated = "names of members of `invoice` that were cut, where the event would have been too large";
const ofInvoice = { invoiceId, invoice, "truncated?": truncated } as const;

const previousStatus = "the invoice's status before";
const moved = { ...ofInvoice, previousStatus } as const;

const payment = "the payment, as `GET /payments/{id}` shows it without its evidence";
const ofPayment = {
  ...{
    "invoiceId?": `${invoiceId}; absent of a transfer that no invoice has`,
    "invoice?": `${invoice}; absent likewise`,
  },
  ...({ "truncated?": truncated, payment } as const),
} as const;

const walletId = "id of the wallet";
const ofWallet = {
  walletId,
  wallet: "the wallet after the change, as `GET /wallets/{id}` shows it; a deleted one as it was",
  fingerprint: "a short hash of what the wallet pays to; null of a deleted wallet",
  previousFingerprint: "the same before the change, or of the pair's last wallet; null where there was none",
} as const;
const ofPair = { walletId, cryptocurrency: "of the wallet", network: "of the wallet" } as const;

const ofMember = { memberId: "id of the membership", member: "the member, as `GET /team/members` shows them" } as const;
const ofApiKey = {
  apiKeyId: "id of the key",
  apiKey: "the key, as `GET /api-keys/{id}` shows it, without its secret",
} as const;
const asInvoice = (name: string) => `Together with \`invoice.${name}\`, for consumers of the older name.`;

export const EVENT_TEXTS: { readonly [T in EventType]: EventText<T> } = {
  "invoice.created": { when: "An invoice was created.", data: ofInvoice },
  "invoice.updated": {
    when: "Something about an invoice changed that no other event tells: its texts, a figure, a mark, a decision about it.",
    data: ofInvoice,
  },
  "invoice.partially_paid": {
    when: "More was received, and it is still less than was asked for.",
    data: ofInvoice,
  },
  "invoice.pending_confirmation": {
    when: "Enough was received; not all of it is confirmed yet. Do not deliver goods on this.",
    data: moved,
  },
  "invoice.paid": { when: "Enough was received and is confirmed: deliver.", data: moved },
  "invoice.underpaid": { when: "The invoice ended with less than was asked for.", data: moved },
  "invoice.overpaid": { when: "More than was asked for was received and is confirmed: deliver.", data: moved },
  "invoice.expired": { when: "The invoice ended and nothing was received.", data: moved },
  "invoice.cancelled": { when: "Somebody cancelled the invoice.", data: moved },
  "invoice.payment_late": {
    when: "Money came after the invoice had ended. It waits for a decision, or is accepted, as your settings say.",
    data: { ...ofInvoice, payment },
  },
  "invoice.reversed": {
    when: "Money that you were told of is no longer there: the chain was reorganised after `invoice.paid` or `invoice.overpaid`.",
    data: moved,
  },
  "payment.created": {
    when: "A payment method was activated: the customer can pay with it.",
    data: { ...ofInvoice, paymentMethod: "the method, as the invoice shows it" },
  },
  "payment.detected": { when: "A transfer was seen, in a block or before.", data: ofPayment },
  "payment.updated": {
    when: "Something about a payment or a method changed that no other event tells: the block it is in, or a new quote.",
    data: {
      ...ofInvoice,
      "payment?": payment,
      "paymentMethod?": "the method that was quoted anew, as the invoice shows it",
    },
  },
  "payment.confirmed": { when: "A payment has the confirmations that it needs.", data: ofPayment },
  "payment.paid": { when: asInvoice("paid"), data: moved },
  "payment.underpaid": { when: asInvoice("underpaid"), data: moved },
  "payment.overpaid": { when: asInvoice("overpaid"), data: moved },
  "payment.expired": { when: asInvoice("expired"), data: moved },
  "payment.dropped": {
    when: "A transfer that was seen will not be in a block: it was replaced, or forgotten.",
    data: ofPayment,
  },
  "payment.reorged": {
    when: "The block that a payment was in is no longer part of the chain. It may come back in another.",
    data: ofPayment,
  },
  "payment.unmatched": {
    when: "A transfer to your address could not be credited to an invoice by any rule. Beyond 100 in a day at one address, counted apart below 1, 10, 100, 1,000 US dollars and above, a summary is sent instead, once for each of these; what it stands for is not stored, and comes in when you name its transaction (`POST .../payments/lookup`).",
    data: {
      payment: `${payment}; null in a summary`,
      "network?": "summary: the network",
      "toAddress?": "summary: your address",
      "unmatchedToday?": "summary: how many were told of one by one",
      "isTruncated?": "summary: true",
      "worthFrom?": "summary: from how many US dollars on",
      "worthBelow?": "summary: below how many US dollars; null where there is no end",
    },
  },
  "payment.matched": { when: "Somebody credited a payment to an invoice.", data: { ...ofInvoice, payment } },
  "wallet.created": { when: "A wallet was registered.", data: ofWallet },
  "wallet.updated": { when: "A wallet was changed, enabled or disabled.", data: ofWallet },
  "wallet.deleted": { when: "A wallet was deleted.", data: ofWallet },
  "wallet.gap_limit_warning": {
    when: "So many addresses in a row were handed out without a payment that wallet software will soon not find the next ones.",
    data: {
      ...ofPair,
      gap: "addresses handed out after the last that received money",
      nextIndex: "index of the next address",
    },
  },
  "wallet.detection_degraded": {
    when: "Payments on a network where you have wallets are not seen for now; nothing is lost. Once for each episode.",
    data: {
      network: "the network",
      degradedSince: "when it began",
      reason: "why, in a stable word; null where nobody can say",
    },
  },
  "wallet.address_degraded": {
    when: "Payments to one address that an open invoice of yours waits at are not seen for now, because a source of chain data refuses the address or it receives too many transactions; the rest of the network is not affected, nothing is lost, and the invoice does not expire meanwhile. Once for each episode.",
    data: {
      network: "the network",
      address: "the address",
      degradedSince: "when it began",
      reason: "why, in a stable word; `FLOODED` where it receives more transactions than can be read at once",
    },
  },
  "wallet.amounts_low": {
    when: "80 % of the amounts that tell payments of one price to a shared address apart are in use.",
    data: { ...ofPair, address: "the shared address", amount: "the price, in whole coins" },
  },
  "team.member_joined": { when: "Somebody accepted an invitation.", data: ofMember },
  "team.member_removed": {
    when: "A member was removed, or left.",
    data: { ...ofMember, hasLeft: "whether it was their own doing" },
  },
  "team.role_changed": { when: "A member has another role.", data: { ...ofMember, previousRole: "the role before" } },
  "team.ownership_transferred": {
    when: "The merchant has another owner.",
    data: { owner: "the new owner, a member", previousOwner: "the owner before, a member" },
  },
  "api_key.created": { when: "An API key was created.", data: ofApiKey },
  "api_key.rotated": { when: "An API key has a new secret.", data: ofApiKey },
  "api_key.deleted": { when: "An API key was deleted.", data: ofApiKey },
  "webhook.endpoint_disabled": {
    when: "An endpoint was switched off because it answered 410 or only failed for five days. The others hear of it.",
    data: {
      webhookId: "id of the endpoint",
      url: "its address",
      reason: "`GONE` or `FAILING`",
      failuresInRow: "failures without a success between them",
      failingSince: "when the first of them was",
    },
  },
  ping: { when: "Somebody tries an endpoint; it goes to that one alone.", data: { webhookId: "id of the endpoint" } },
};
