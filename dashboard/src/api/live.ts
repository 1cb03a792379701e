// Live updates of the open merchant: one WebSocket announces changes, and queries about them are marked stale, so that visible ones are refetched.
// While the socket is down, everything visible of the merchant is refetched from time to time instead. Neither is shown; calls report if the service
// is unreachable.
import type { OperationId } from "./call.ts";
import { lineTo } from "./line.ts";

/** How often everything is refetched while there is no socket. */
export const POLL_MS = 30_000;
/** Messages this close together cause one refetch. A busy merchant's messages arrive all the time. */
export const GATHER_MS = 1_000;
/** More than this, collected while the page is hidden, means everything. */
const MOST_GATHERED = 100;

/** The subject of a message; `reread` is everything. */
type News =
  | { readonly type: "invoice"; readonly invoiceId: string }
  | { readonly type: "unmatched" | "wallet" | "endpoint" | "reread" };

/** What shows each subject; for an invoice, also everything read by its id. */
const READS: Readonly<Record<Exclude<News["type"], "reread">, readonly OperationId[]>> = {
  invoice: [
    ...(["listInvoices", "listPayments", "getPayment", "listEvents", "getTotals", "getAttention"] as const),
    ...(["listCustomers", "getCustomerResume"] as const),
  ],
  unmatched: ["listPayments", "getPayment", "listEvents", "getAttention"],
  wallet: ["listWallets", "getWallet", "listAuditEvents", "listEvents", "getAttention", "getReadiness"],
  endpoint: ["listWebhooks", "getWebhook", "listDeliveries", "getDelivery", "listEvents", "getAttention"],
};

/** A query's key: the operation and its input, if `reading` has made it (queries.ts). */
export type Key = readonly unknown[];

/** Whether the data under a key may have changed. */
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
  /** Where to continue after a lost connection; undefined if nothing was recorded. */
  readonly eventId: string | undefined;
}

/** A message of an unknown kind concerns everything. */
export function messageIn(text: string): Message {
  const message: Readonly<Record<string, unknown>> = JSON.parse(text);
  const { type, eventId: id, invoiceId } = message;
  const eventId = typeof id === "string" ? id : undefined;
  if (type === "invoice" && typeof invoiceId === "string") return { news: { type, invoiceId }, eventId };
  if (type === "unmatched" || type === "wallet" || type === "endpoint") return { news: { type }, eventId };
  return { news: { type: "reread" }, eventId };
}

/** Everything read so far. */
export interface Reads {
  /** Marks these keys' data as stale; visible data is refetched. */
  invalidate(isTouched: (key: Key) => boolean): void;
  /** Whether one of them is loading for the first time. */
  isReadingFirst(isTouched: (key: Key) => boolean): boolean;
}

interface Options {
  readonly merchantId: string;
  readonly reads: Reads;
  /** Opens a socket at a path of this origin. */
  readonly connect: (path: string) => WebSocket;
  /** A hidden page reads nothing. */
  readonly isSeen: () => boolean;
}

export interface Following {
  /** The page is visible again. */
  seen(): void;
  /** The network is back. */
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

/** Collects changes, and has them refetched. */
function rereader({ merchantId, reads, isSeen }: Omit<Options, "connect">) {
  let gathered: readonly News[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const read = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.length === 0 || !isSeen()) return;
    const all = gathered;
    const isAny = (key: Key) => all.some((news) => isTouched(news, merchantId, key));
    // A first read is not restarted, and its answer may predate the change.
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
