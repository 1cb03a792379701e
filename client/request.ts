// One call: sends it, reads the answer, and repeats the call while that is safe and may help. Calls of every method can be repeated: GET changes
// nothing, and the others carry an Idempotency-Key, the same on each attempt. If an answer was lost, the next attempt gets the result of the first
// instead of a refusal.
import { EdgetillConnectionError, EdgetillError, EdgetillTimeoutError, type FailedCall } from "./errors.ts";
import { type Backoff, isRetryable, parseRetryAfter, retryDelayMs } from "./retry.ts";

export interface Transport {
  readonly apiKey: string;
  readonly fetch: typeof fetch;
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly backoff: Backoff;
}

/** Options of one call. */
export interface CallOptions {
  /** For any call except GET; 1 to 255 characters, sent as UTF-8. Random by default: pass your own to be safe across a restart of your server too. */
  readonly idempotencyKey?: string | undefined;
  /** Aborts the call at any stage; the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of one attempt, instead of the client's. */
  readonly timeoutMs?: number | undefined;
  /** Attempts after the first, instead of the client's. */
  readonly maxRetries?: number | undefined;
}

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly body?: object | undefined;
  /** A browser visitor's token, if the operator requires one. */
  readonly turnstileToken?: string | undefined;
  /** For errors: `GET /invoices/{invoiceId}` */
  readonly route: string;
}

/** Extracts the result of a call from a successful response. */
type Take<T> = (response: Response) => Promise<T>;

/** If Retry-After is longer, the call is not repeated: the error says how long the caller must wait. */
const MAX_RETRY_AFTER_MS = 60_000;

/** The JSON of the answer; undefined if it has no body. Throws an error of errors.ts, or the reason of the caller's signal. */
export async function send<T>(transport: Transport, request: Request, options: CallOptions): Promise<T> {
  return sendAndTake(transport, request, options, async (response) => {
    const text = await response.text();
    return text === "" ? undefined : JSON.parse(text);
  });
}

/** The response as soon as its headers have arrived. The caller reads the body, which may take any time. */
export async function open(transport: Transport, request: Request, options: CallOptions): Promise<Response> {
  return sendAndTake(transport, request, options, async (response) => response);
}

async function sendAndTake<T>(transport: Transport, request: Request, options: CallOptions, take: Take<T>): Promise<T> {
  const { signal, maxRetries = transport.maxRetries } = options;
  const idempotencyKey = request.method === "GET" ? undefined : (options.idempotencyKey ?? crypto.randomUUID());
  if (idempotencyKey === "") throw new TypeError("an empty idempotencyKey would protect nothing");
  const init = requestInit(transport, request, idempotencyKey);
  for (let retry = 0; ; retry += 1) {
    signal?.throwIfAborted();
    const call: FailedCall = { route: request.route, attempts: retry + 1, idempotencyKey };
    const outcome = await attempt(transport, { url: request.url, init, call, take }, options);
    if ("answer" in outcome) return outcome.answer;
    const { error, mayRetry, retryAfterMs } = outcome;
    if (retry >= maxRetries || !mayRetry || (retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) throw error;
    await pause(retryDelayMs({ ...transport.backoff, retry, random: Math.random(), retryAfterMs }), signal);
  }
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}

/** Never follows a redirect, because that would send the key to the redirect's target. */
function requestInit(
  { apiKey }: Transport,
  { method, body, turnstileToken }: Request,
  idempotencyKey: string | undefined,
): RequestInit {
  const headers = new Headers({ "x-api-key": apiKey, accept: "application/json" });
  if (idempotencyKey !== undefined) headers.set("idempotency-key", asHeader(idempotencyKey));
  if (turnstileToken !== undefined) headers.set("cf-turnstile-response", turnstileToken);
  if (body === undefined) return { method, headers, redirect: "manual" };
  headers.set("content-type", "application/json");
  return { method, headers, redirect: "manual", body: JSON.stringify(body) };
}

/**
 * Encodes a text as UTF-8 for the value of a header. By the Fetch standard each character of a value is one byte. Workers encode values as UTF-8
 * themselves; they are recognised because they accept a character above one byte.
 */
function asHeader(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length === text.length) return text;
  try {
    new Headers({ probe: "\u0100" });
    return text;
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  }
}

/** Logged if the service warns that a web page sent a secret key. The service recognises a web page by the Origin header. */
const SHOWN =
  "Edgetill: this web page sends a secret key (sk_), so everyone who opens it can read and use the key. Rotate it now, and use EdgetillPublic with a public key (pk_) here.";

interface Attempt<T> {
  readonly url: string;
  readonly init: RequestInit;
  readonly call: FailedCall;
  readonly take: Take<T>;
}

type Outcome<T> =
  | { readonly answer: T }
  | { readonly error: Error; readonly mayRetry: boolean; readonly retryAfterMs?: number | undefined };

async function attempt<T>(
  transport: Transport,
  { url, init, call, take }: Attempt<T>,
  options: CallOptions,
): Promise<Outcome<T>> {
  const { signal, timeoutMs = transport.timeoutMs } = options;
  // Built by hand: some versions of Node 20 garbage-collect AbortSignal.any with AbortSignal.timeout, and then nothing times out.
  const controller = new AbortController();
  const end = () => controller.abort();
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener("abort", end);
  try {
    const response = await transport.fetch(url, { ...init, signal: controller.signal });
    if (response.headers.get("x-warning") === "SECRET_KEY_IN_BROWSER") console.warn(SHOWN);
    if (response.ok) return { answer: await take(response) };
    const text = await response.text();
    const { status, headers } = response;
    const retryAfterMs = parseRetryAfter(headers.get("retry-after"), Date.now());
    const answer = { status, requestId: headers.get("x-request-id"), retryAfterMs };
    // A proxy may echo the request, and thus the key, in its answer.
    const error = new EdgetillError(call, { ...answer, text: text.replaceAll(transport.apiKey, "[API key]") });
    return { error, mayRetry: isRetryable(status), retryAfterMs };
  } catch (cause) {
    signal?.throwIfAborted();
    const error = controller.signal.aborted
      ? new EdgetillTimeoutError(call, `no whole answer within ${timeoutMs} ms`, cause)
      : new EdgetillConnectionError(call, "no whole answer came", cause);
    return { error, mayRetry: true };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}
