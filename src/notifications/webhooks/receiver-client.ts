// One POST to a merchant's server, which may hang, redirect, answer slowly, break off its answer or never end it. The result has a bounded size and
// arrives within a bounded time; nothing is ever thrown. Only the given headers are sent: this fetch stores no cookies, and a POST is not cached.
import { readBytes } from "../../lib/read-bytes.ts";
import { abortedAfter } from "../../lib/sleep.ts";

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ReceiverRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The time limit of the whole exchange: connecting, headers and body. */
  readonly timeoutMs: number;
}

/** Why there is no status. */
type ReceiverError =
  /** No headers within the time limit. */
  | "TIMEOUT"
  /** No connection, or one that ended or broke the protocol before a status arrived. */
  | "CONNECTION_FAILED";

export interface ReceiverAnswer {
  /** Null exactly when `error` is set. */
  readonly statusCode: number | null;
  readonly error: ReceiverError | null;
  /** The time until the status arrived, or until waiting for it ended. */
  readonly latencyMs: number;
  /** At most the first 4 KB, as text that a row can store; null without a status. */
  readonly response: string | null;
  /** The Retry-After header. */
  readonly retryAfter: string | null;
}

const READ_BYTES = 65_536;
const KEPT_BYTES = 4_096;

interface Sending {
  readonly fetch: Fetch;
  readonly nowMs: () => number;
}

export function postToReceiver(of: Sending, request: ReceiverRequest): Promise<ReceiverAnswer> {
  return abortedAfter(request.timeoutMs, (signal) => postUntil(signal, of, request));
}

async function postUntil(
  signal: AbortSignal,
  { fetch, nowMs }: Sending,
  { url, headers, body }: ReceiverRequest,
): Promise<ReceiverAnswer> {
  const startMs = nowMs();
  try {
    const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    const latencyMs = nowMs() - startMs;
    // The status is the result. A body that hangs or breaks off afterwards does not change it.
    const response = await beginningOf(answer.body);
    return {
      statusCode: answer.status,
      error: null,
      latencyMs,
      response,
      retryAfter: answer.headers.get("retry-after"),
    };
  } catch {
    // The message may contain anything, and a merchant only needs to know which of these two errors it was.
    const error = signal.aborted ? "TIMEOUT" : "CONNECTION_FAILED";
    return { statusCode: null, error, latencyMs: nowMs() - startMs, response: null, retryAfter: null };
  }
}

/**
 * Reads to the end, so that the connection can be reused, but at most 64 KB. If the body breaks off, what was read until then is kept. The request's
 * signal aborts a body that hangs.
 */
async function beginningOf(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const limits = { limitBytes: READ_BYTES - 1, keptBytes: KEPT_BYTES, keepsBroken: true };
  const { bytes, isWhole } = await readBytes(body, limits);
  return storable(bytes.subarray(0, KEPT_BYTES), isWhole && bytes.length <= KEPT_BYTES);
}

/** Decodes UTF-8 leniently, without NUL, at which D1 would end the text. Cuts to 4 KB again, because replacement characters are longer. */
function storable(bytes: Uint8Array, isWhole: boolean): string {
  // For truncated text, `stream` leaves out a partial last character.
  const text = new TextDecoder().decode(bytes, { stream: !isWhole }).replaceAll("\0", "");
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(KEPT_BYTES));
  return text.slice(0, read);
}
