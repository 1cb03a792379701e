// One bounded request. An outside service may hang, redirect, answer with a page, stop half-way or never end: each becomes an outage with a
// name, never an exception and never a partial text.
import { readBytes } from "./read-bytes.ts";
import { err, ok, type Result } from "./result.ts";
import { SECOND_MS } from "./time.ts";

export type OutageKind =
  /** No answer, or not all of it, within the time limit. */
  | "TIMEOUT"
  /** The connection failed. */
  | "UNREACHABLE"
  /** 429 or 418: we ask too often. */
  | "RATE_LIMITED"
  /** Any other status than 200, redirects included. */
  | "BAD_STATUS"
  /** A 200 that is not JSON: a portal's, a proxy's or a challenge page. */
  | "NOT_JSON"
  /** JSON that ends too early, or more of it than we read. */
  | "TRUNCATED"
  | "TOO_LARGE"
  /** JSON of another shape than agreed. */
  | "UNEXPECTED_SHAPE"
  /** The service says in a 200 that it failed. */
  | "REFUSED"
  /** A chain source that serves another chain than it was configured for. */
  | "WRONG_CHAIN"
  /** A chain source that does not have the block or state yet, or no longer. */
  | "BEHIND";

/** `retryAfterMs`: what the service asked for itself; null when it did not say. */
export interface Outage {
  readonly kind: OutageKind;
  readonly message: string;
  readonly retryAfterMs: number | null;
}

export function outage(kind: OutageKind, message: string, retryAfterMs: number | null = null): Outage {
  return { kind, message, retryAfterMs };
}

export interface BoundedRequest {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly url: string;
  /** For the whole answer, body included. */
  readonly timeoutMs: number;
  /** Bounds the body while it is read. */
  readonly limitBytes: number;
  /** Beside `accept` and `user-agent`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON that makes it a POST. */
  readonly json?: string;
}

/** The body of a 200 as text; redirects are not followed. */
export async function fetchText(of: BoundedRequest): Promise<Result<string, Outage>> {
  const bytes = await fetchBytes(of);
  return bytes.ok ? ok(new TextDecoder().decode(bytes.value)) : bytes;
}

/** The body of a 200; redirects are not followed. `accept`: the media types asked for. */
export async function fetchBytes(of: BoundedRequest, accept = "application/json"): Promise<Result<Uint8Array, Outage>> {
  // Not AbortSignal.timeout: its timer runs on after the answer, and an object with a running timer stays awake.
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error(`no answer within ${of.timeoutMs} ms`)), of.timeoutMs);
  const { signal } = abort;
  const type = of.json === undefined ? {} : { "content-type": "application/json" };
  const headers = { accept, "user-agent": "edgetill", ...type, ...of.headers };
  const send = of.json === undefined ? {} : { method: "POST", body: of.json };
  try {
    const response = await of.fetch(of.url, { ...send, headers, redirect: "manual", signal });
    if (response.status === 200) {
      const { bytes, isWhole } = await readBytes(response.body, { limitBytes: of.limitBytes, signal });
      return isWhole ? ok(bytes) : err(outage("TOO_LARGE", `more than ${of.limitBytes} bytes`));
    }
    await response.body?.cancel();
    const kind = response.status === 429 || response.status === 418 ? "RATE_LIMITED" : "BAD_STATUS";
    return err(outage(kind, `status ${response.status}`, retryAfterMs(response.headers.get("retry-after"))));
  } catch (error) {
    const kind = signal.aborted ? "TIMEOUT" : "UNREACHABLE";
    return err(outage(kind, error instanceof Error ? error.message : String(error)));
  } finally {
    clearTimeout(timer);
  }
}

/** Only the form in seconds; a date would need a clock. */
function retryAfterMs(header: string | null): number | null {
  return header !== null && /^\d{1,5}$/.test(header) ? Number(header) * SECOND_MS : null;
}

/**
 * Parses JSON with every number as its source text, so that no figure passes through a float. The engine's reviver gives that text
 * (`context.source`, in V8 since 11.4, so in workerd and in Node 22 and later); without it the shortest text of the number is used.
 * A text that opens like JSON and does not parse was cut off; any other text is a page.
 */
export function parseExactJson(text: string): Result<JsonText, Outage> {
  return parsedBy(() => JSON.parse(text, numberAsText), text);
}

function parsedBy(parse: () => JsonText, text: string): Result<JsonText, Outage> {
  try {
    return ok(parse());
  } catch {
    const kind = /^\s*[[{]/.test(text) ? "TRUNCATED" : "NOT_JSON";
    return err(outage(kind, `${text.length} characters that are not JSON`));
  }
}

/** The body of a 200 as JSON whose numbers are text. */
export async function fetchExactJson(of: BoundedRequest): Promise<Result<JsonText, Outage>> {
  const text = await fetchText(of);
  return text.ok ? parseExactJson(text.value) : text;
}

/** The same where nothing that counts is a number: a number comes as the float that it is. */
export async function fetchPlainJson(of: BoundedRequest): Promise<Result<JsonText, Outage>> {
  const text = await fetchText(of);
  return text.ok ? parsedBy(() => JSON.parse(text.value), text.value) : text;
}

/** JSON whose numbers are text. */
export type JsonText = string | boolean | null | readonly JsonText[] | { readonly [key: string]: JsonText };

function numberAsText(_key: string, value: JsonText | number, context?: { readonly source?: string }): JsonText {
  return typeof value === "number" ? (context?.source ?? String(value)) : value;
}
