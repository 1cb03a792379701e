// Live updates of the open merchant: one WebSocket says what has changed, and what was read of it is marked as stale, so that what is shown of it is
// read again. While the socket is away, everything that is shown of the merchant is read again every now and then instead. Nothing is shown
// of either; that the service cannot be reached is for the calls to say.
import type { OperationId } from "./call.ts";
import { lineTo } from "./line.ts";

/** How often everything is read again while there is no socket. */
export const POLL_MS = 30_000;
/** What comes this close together is read once. A busy merchant's messages come all the time. */
export const GATHER_MS = 1_000;
/** More than this, gathered while nobody looked, is everything. */
const MOST_GATHERED = 100;

/** What a message is about; `reread` is everything. */
type News =
  | { readonly type: "invoice"; readonly invoiceId: string }
  | { readonly type: "unmatched" | "wallet" | "endpoint" | "reread" };

/** What shows something of each; of an invoice, also all that was read of it by its id. */
const READS: Readonly<Record<Exclude<News["type"], "reread">, readonly OperationId[]>> = {
  invoice: [
    ...(["listInvoices", "listPayments", "getPayment", "listEvents", "getTotals", "getAttention"] as const),
    ...(["listCustomers", "getCustomerResume"] as const),
  ],
  unmatched: ["listPayments", "getPayment", "listEvents", "getAttention"],
  wallet: ["listWallets", "getWallet", "listAuditEvents", "listEvents", "getAttention"],
  endpoint: ["listWebhooks", "getWebhook", "listDeliveries", "getDelivery", "listEvents", "getAttention"],
};

/** A query's key: the operation and its input, if `reading` has made it (queries.ts). */
export type Key = readonly unknown[];

/** Whether what was read under a key may have changed. */
export function isTouched(news: News, merchantId: string, [operation, input]: Key): boolean {
  if (!isObject(input) || input.merchantId !== merchantId) return false;
  if (news.type === "reread") return true;
  if (READS[news.type].some((each) => each === operation)) return true;
  return news.type === "invoice" && isObject(input.params) && input.params.invoiceId === news.invoiceId;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

interface Message {
  readonly news: News;
  /** Where to go on after a lost connection; undefined where nothing was recorded. */
  readonly eventId: string | undefined;
}

/** A message of a kind that is not known is about everything. */
export function messageIn(text: string): Message {
  const message: Readonly<Record<string, unknown>> = JSON.parse(text);
  const { type, eventId: id, invoiceId } = message;
  const eventId = typeof id === "string" ? id : undefined;
  if (type === "invoice" && typeof invoiceId === "string") return { news: { type, invoiceId }, eventId };
  if (type === "unmatched" || type === "wallet" || type === "endpoint") return { news: { type }, eventId };
  return { news: { type: "reread" }, eventId };
}

/** What was read so far. */
export interface Reads {
  /** Marks as stale what was read under these keys; what is shown of it is read again. */
  invalidate(isTouched: (key: Key) => boolean): void;
  /** Whether one of them is being read for the first time. */
  isReadingFirst(isTouched: (key: Key) => boolean): boolean;
}

interface Options {
  readonly merchantId: string;
  readonly reads: Reads;
  /** Opens a socket at a path of this origin. */
  readonly connect: (path: string) => WebSocket;
  /** A page that nobody sees reads nothing. */
  readonly isSeen: () => boolean;
}

export interface Following {
  /** The page is seen again. */
  seen(): void;
  /** The network is there again. */
  online(): void;
  end(): void;
}

export function followMerchant({ merchantId, connect, ...options }: Options): Following {
  const path = `/api/v1/merchants/merchant/${encodeURIComponent(merchantId)}/live`;
  const reader = rereader({ merchantId, ...options });
  let after: string | undefined;
  const line = lineTo({
    connect: () => connect(after === undefined ? path : `${path}?after=${encodeURIComponent(after)}`),
    onText: (text) => {
      const { news, eventId } = messageIn(text);
      after = eventId ?? after;
      reader.gather(news);
    },
  });
  const poll = setInterval(() => {
    if (!line.isOpen()) reader.gather({ type: "reread" });
  }, POLL_MS);
  return {
    seen: reader.read,
    online: line.join,
    end: () => {
      clearInterval(poll);
      line.close();
      reader.end();
    },
  };
}

/** Gathers what has changed, and has it read again. */
function rereader({ merchantId, reads, isSeen }: Omit<Options, "connect">) {
  let gathered: readonly News[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const read = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.length === 0 || !isSeen()) return;
    const all = gathered;
    const isAny = (key: Key) => all.some((news) => isTouched(news, merchantId, key));
    // A first read is not begun anew, and its answer may be older than the change.
    if (reads.isReadingFirst(isAny)) {
      timer = setTimeout(read, GATHER_MS);
      return;
    }
    gathered = [];
    reads.invalidate(isAny);
  };

  return {
    read,
    gather: (news: News) => {
      const isAll = news.type === "reread" || gathered.length >= MOST_GATHERED;
      gathered = isAll ? [{ type: "reread" }] : [...gathered, news];
      timer ??= setTimeout(read, GATHER_MS);
    },
    end: () => clearTimeout(timer),
  };
}
