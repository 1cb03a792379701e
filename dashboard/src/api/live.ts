// Live updates of the open merchant: one WebSocket announces changes, and queries about them are marked stale, so that visible ones are refetched.
// While the socket is down, all visible data of the merchant is refetched every 30 seconds instead. The user does not notice the difference. If the
// service is unreachable, the failed calls report it.
import { LIVE_READ_WITHIN_MS } from "../../../src/lib/limits.ts";
import type { OperationId } from "./call.ts";
import { lineTo } from "./line.ts";

/** How often everything is refetched while there is no socket. */
export const POLL_MS = 30_000;
/** Messages within this time cause a single refetch, because a busy merchant has a constant stream of them. */
export const GATHER_MS = 1_000;
/** If more messages than this wait for a refetch, everything counts as changed. */
const MOST_GATHERED = 100;

/** The subject of a message; `reread` means everything. */
type News =
  | { readonly type: "invoice"; readonly invoiceId: string }
  | { readonly type: "unmatched" | "wallet" | "endpoint" | "reread" };

/** The operations that show each subject; for an invoice, also everything read by its id. */
const READS: Readonly<Record<Exclude<News["type"], "reread">, readonly OperationId[]>> = {
  invoice: [
    ...(["listInvoices", "listPayments", "getPayment", "listEvents", "getTotals", "getAttention"] as const),
    ...(["listCustomers", "getCustomerResume"] as const),
  ],
  unmatched: ["listPayments", "getPayment", "listEvents", "getAttention"],
  wallet: ["listWallets", "getWallet", "listAuditEvents", "listEvents", "getAttention", "getReadiness"],
  endpoint: ["listWebhooks", "getWebhook", "listDeliveries", "getDelivery", "listEvents", "getAttention"],
};

/** A query's key. For a query created by `reading` (queries.ts), it is the operation and its input. */
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
  /** The event after which a new connection continues; undefined if the message is not about a recorded event. */
  readonly eventId: string | undefined;
}

/** Parses a message. After a message of an unknown kind, everything is refetched. */
export function messageIn(text: string): Message {
  const message: Readonly<Record<string, unknown>> = JSON.parse(text);
  const { type, eventId: id, invoiceId } = message;
  const eventId = typeof id === "string" ? id : undefined;
  if (type === "invoice" && typeof invoiceId === "string") return { news: { type, invoiceId }, eventId };
  if (type === "unmatched" || type === "wallet" || type === "endpoint") return { news: { type }, eventId };
  return { news: { type: "reread" }, eventId };
}

/** The queries that have been read so far. */
export interface Reads {
  /** Marks these keys' data as stale; visible data is refetched. */
  invalidate(isTouched: (key: Key) => boolean): void;
  /** Whether any affected query is loading for the first time. */
  isReadingFirst(isTouched: (key: Key) => boolean): boolean;
}

interface Options {
  readonly merchantId: string;
  readonly reads: Reads;
  /** Opens a socket at a path on this origin. */
  readonly connect: (path: string) => WebSocket;
  /** Whether the page is visible; a hidden page refetches nothing. */
  readonly isSeen: () => boolean;
  /** The time since the page was opened: everything that it shows was read within this time. */
  readonly pageAgeMs: () => number;
}

export interface Following {
  /** To be called when the page is visible again. */
  seen(): void;
  /** To be called when the network is back. */
  online(): void;
  end(): void;
}

export function followMerchant({ merchantId, connect, pageAgeMs, ...options }: Options): Following {
  const path = `/api/v1/merchants/merchant/${encodeURIComponent(merchantId)}/live`;
  const reader = rereader({ merchantId, ...options });
  let after: string | undefined;
  // Before the first message, the service is told how old the data may be, so that only what changed since then is refetched.
  const place = () => {
    if (after !== undefined) return `?after=${encodeURIComponent(after)}`;
    const readWithinMs = Math.ceil(pageAgeMs());
    return readWithinMs > LIVE_READ_WITHIN_MS ? "" : `?readWithinMs=${readWithinMs}`;
  };
  const line = lineTo({
    connect: () => connect(`${path}${place()}`),
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

/** Collects changes, and then refetches the queries that they affect. */
function rereader({ merchantId, reads, isSeen }: Omit<Options, "connect" | "pageAgeMs">) {
  let gathered: readonly News[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const read = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.length === 0 || !isSeen()) return;
    const all = gathered;
    const isAny = (key: Key) => all.some((news) => isTouched(news, merchantId, key));
    // A query that is loading for the first time is not restarted, but its answer may be from before the change, so this is repeated later.
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
