// How the `data` of an invoice's event is stored: compressed with deflate, and in base64, because rows are inserted from JSON. Most of it is member
// names, which are in the dictionary; the further events of a change start like its first one, and are deflated with that start as a dictionary too.
import { lazily } from "../../lib/lazily.ts";

// The module is loaded when the first event is written or read, not when an isolate starts.
const zlib = lazily(() => process.getBuiltinModule("node:zlib"));

/** A quarter of the default memory: zlib clears it for each event, and the texts are short. */
const FORM = { windowBits: 13, memLevel: 6 };

const PAYMENT = {
  id: "pay_01",
  invoiceId: "inv_01",
  merchantId: "mer_01",
  chainId: 1,
  network: "ETH",
  currency: "USDT",
  txHash: "0x",
  outputIndex: "0",
  fromAddress: "0x",
  toAddress: "0x",
  amount: "",
  fiatAmount: "",
  status: "DETECTED",
  confirmations: 1,
  requiredConfirmations: 1,
  blockHeight: 1,
  isLate: false,
  matchedBy: "EXACT_AMOUNT",
  receivedTxAt: "20",
  confirmedTxAt: null,
  createdAt: "20",
  updatedAt: "20",
};
const METHOD = {
  cryptocurrency: "",
  network: "ETH",
  status: "ACTIVE",
  reason: null,
  address: "0x",
  amount: "",
  amountDue: "",
  rate: "",
  rateAt: "20",
  quotedAt: "20",
  paymentUri: "ethereum:0x",
  requiredConfirmations: 1,
};
const timelineItem = (paymentStatus: string) => ({ id: "itl_01", invoiceId: "inv_01", paymentStatus, time: "20" });
const INVOICE = {
  id: "inv_01",
  merchantId: "mer_01",
  customerId: null,
  productId: null,
  name: "",
  description: null,
  redirectUrl: null,
  rawAmount: "",
  endAmount: "",
  currency: "USD",
  status: "PENDING_CONFIRMATION",
  expiresAt: "20",
  createdAt: "20",
  updatedAt: "20",
  customer: null,
  product: null,
  payments: [PAYMENT],
  invoiceTimeline: ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"].map(timelineItem),
  metadata: null,
  externalId: null,
  origin: "API",
  checkoutUrl: "https://",
  paymentMethods: [METHOD],
  amountReceived: "0.000000",
  amountConfirmed: "0.000000",
  isLate: false,
  needsReview: false,
  resolution: null,
  warnings: [],
  monitorUntil: "20",
};

/** Values that only some events have; the sample below has the more frequent ones. */
const SELDOM = {
  statuses: "EXPIRED CANCELLED UNDERPAID OVERPAID PARTIALLY_PAID DROPPED REORGED AVAILABLE UNAVAILABLE",
  customer: { id: "cus_01", email: "", name: "", address: null, phoneNumber: null },
  payments: [],
  matchedBy: "ADDRESS",
  blockHeight: null,
  rate: null,
  previousStatus: "AWAITING_PAYMENT",
  status: "AWAITING_PAYMENT",
  expiresAt: "20",
  receivedTxAt: "20",
  confirmedTxAt: "20",
};

/**
 * A sample of the data to deflate, with the most common part last. Stored events can only be read with exactly this text: it must not change while
 * they are kept. The format of invoices may change; their events then take slightly more space.
 */
export const DICTIONARY = JSON.stringify([
  SELDOM,
  {
    invoiceId: "inv_01",
    invoice: INVOICE,
    payment: { ...PAYMENT, status: "CONFIRMED" },
    previousStatus: "PENDING_CONFIRMATION",
    paymentMethod: METHOD,
  },
]);

/** Packs JSON of an object, or the part of it that follows `before`. */
export function packData(text: string, before = ""): string {
  return zlib()
    .deflateRawSync(text, { ...FORM, dictionary: dictionaryWith(before) })
    .toString("base64");
}

/**
 * The text that was packed. Reads three forms: plain JSON of an object; packed JSON; and three parts separated by spaces: packed JSON, the length of
 * the head that the text shares with it, and the packed rest.
 */
export function unpackData(stored: string): string {
  if (stored.startsWith("{")) return stored;
  const [whole = "", headLength, rest] = stored.split(" ");
  if (headLength === undefined || rest === undefined) return inflated(whole, "");
  const head = inflated(whole, "").slice(0, Number(headLength));
  return head + inflated(rest, head);
}

function inflated(text: string, before: string): string {
  const dictionary = dictionaryWith(before);
  return zlib().inflateRawSync(Buffer.from(text, "base64"), { dictionary }).toString();
}

function dictionaryWith(before: string): Buffer {
  return Buffer.from(DICTIONARY + before);
}
