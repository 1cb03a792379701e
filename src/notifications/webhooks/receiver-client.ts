// One POST to a merchant's server, which may hang, redirect, drip, break off or never end. Whatever it does becomes an answer of bounded
// size within a bounded time, never an exception. Nothing is sent beside the headers given: fetch keeps no cookies here, and a POST is
// not cached.
import { readBytes } from "../../lib/read-bytes.ts";

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ReceiverRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For all of it: connecting, headers and body. */
  readonly timeoutMs: number;
}

/** Why there is no status. */
export type ReceiverError =
  /** No headers within the time limit. */
  | "TIMEOUT"
  /** No connection, or one that ended or spoke something else before a status came. */
  | "CONNECTION_FAILED";

export interface ReceiverAnswer {
  /** Null exactly when `error` is set. */
  readonly statusCode: number | null;
  readonly error: ReceiverError | null;
  /** To the status, or to the end of waiting for it. */
  readonly latencyMs: number;
  /** At most the first 4 KB as text that a row can hold; null without a status. */
  readonly response: string | null;
  /** The Retry-After header. */
  readonly retryAfter: string | null;
}

const READ_BYTES = 65_536;
const KEPT_BYTES = 4_096;

export async function postToReceiver(
  { fetch, nowMs }: { readonly fetch: Fetch; readonly nowMs: () => number },
  { url, headers, body, timeoutMs }: ReceiverRequest,
): Promise<ReceiverAnswer> {
  const startMs = nowMs();
  // Not AbortSignal.timeout: its timer runs on after the answer.
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  const { signal } = abort;
  try {
    const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    const latencyMs = nowMs() - startMs;
    // The status is the answer. A body that hangs or breaks off afterwards does not change it.
    const response = await beginningOf(answer.body);
    return {
      statusCode: answer.status,
      error: null,
      latencyMs,
      response,
      retryAfter: answer.headers.get("retry-after"),
    };
  } catch {
    // The message may name anything; a merchant can only act on which of the two it was.
    const error = signal.aborted ? "TIMEOUT" : "CONNECTION_FAILED";
    return { statusCode: null, error, latencyMs: nowMs() - startMs, response: null, retryAfter: null };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads to the end, so that the connection can be used again, but no further than 64 KB. What came before a body broke off is the answer. A
 * body that hangs is broken off by the signal of its request.
 */
async function beginningOf(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const limits = { limitBytes: READ_BYTES - 1, keptBytes: KEPT_BYTES, keepsBroken: true };
  const { bytes, isWhole } = await readBytes(body, limits);
  return storable(bytes.subarray(0, KEPT_BYTES), isWhole && bytes.length <= KEPT_BYTES);
}

/** UTF-8 read leniently, without the NUL that D1 would end the text at, and still at most 4 KB: what is replaced grows. */
function storable(bytes: Uint8Array, isWhole: boolean): string {
  // Of text that was cut, `stream` leaves the character out that the cut went through.
  const text = new TextDecoder().decode(bytes, { stream: !isWhole }).replaceAll("\0", "");
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(KEPT_BYTES));
  return text.slice(0, read);
}
