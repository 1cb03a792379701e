// One POST to a merchant's server, which may hang, redirect, drip, break off or never end. Whatever it does becomes an answer of bounded
// size within a bounded time, never an exception. Nothing is sent beside the headers given: fetch keeps no cookies here, and a POST is
// not cached.
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
    // The receiver has said what it made of the event. A body that hangs or breaks off after that takes nothing back.
    const response = await beginningOf(answer.body);
    return {
      statusCode: answer.status,
      error: null,
      latencyMs,
      response,
      retryAfter: answer.headers.get("retry-after"),
    };
  } catch {
    // The message may name anything; which of the two it was is all that a merchant can act on.
    const error = signal.aborted ? "TIMEOUT" : "CONNECTION_FAILED";
    return { statusCode: null, error, latencyMs: nowMs() - startMs, response: null, retryAfter: null };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads to the end, so that the connection can be used again, but no further than 64 KB: what comes after is never asked for. A body that
 * stands still is broken by the signal of its request.
 */
async function beginningOf(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return "";
  const kept = new Uint8Array(KEPT_BYTES);
  const reader = body.getReader();
  let length = 0;
  let isWhole = false;
  try {
    while (length < READ_BYTES && !isWhole) {
      const { done, value } = await reader.read();
      if (length < KEPT_BYTES && value !== undefined) kept.set(value.subarray(0, KEPT_BYTES - length), length);
      length += value?.length ?? 0;
      isWhole = done;
    }
    // Not waited for: that is the receiver's pace again.
    if (!isWhole) reader.cancel().catch(() => undefined);
  } catch {
    // Broken off: what came before is the answer.
  }
  return storable(kept.subarray(0, length), isWhole && length <= KEPT_BYTES);
}

/** UTF-8 read leniently, without the NUL that D1 would end the text at, and still at most 4 KB: what is replaced grows. */
function storable(bytes: Uint8Array, isWhole: boolean): string {
  // Of text that was cut, `stream` leaves the character out that the cut went through.
  const text = new TextDecoder().decode(bytes, { stream: !isWhole }).replaceAll("\0", "");
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(KEPT_BYTES));
  return text.slice(0, read);
}
