// An HTTP request with limits on time and size. An outside service may hang, redirect, send an HTML page, break off or never end: each becomes a
// named outage, never an exception and never a partial text.
import { readBytes } from "./read-bytes.ts";
import { err, ok, type Result } from "./result.ts";
import { abortedAfter } from "./sleep.ts";
import { SECOND_MS } from "./time.ts";

export type OutageKind =
  /** No complete response within the time limit. */
  | "TIMEOUT"
  /** The connection failed. */
  | "UNREACHABLE"
  /** Status 429 or 418: too many requests. */
  | "RATE_LIMITED"
  /** Status 403, or a 503 that names a limit or a time: the service refuses requests for a while, as TronGrid does, or refuses the key. */
  | "BANNED"
  /** Any other 503. */
  | "UNAVAILABLE"
  /** Any other status except 200, redirects included. */
  | "BAD_STATUS"
  /** A 200 that is not JSON, such as the HTML page of a portal, a proxy or a challenge. */
  | "NOT_JSON"
  /** Text that starts like JSON but cannot be parsed, usually because it ends too early. */
  | "TRUNCATED"
  | "TOO_LARGE"
  /** JSON with an unexpected structure. */
  | "UNEXPECTED_SHAPE"
  /** A 200 in which the service reports an error. */
  | "REFUSED"
  /** The chain source serves a different chain. */
  | "WRONG_CHAIN"
  /** The chain source does not have the block or state yet, or no longer has it. */
  | "BEHIND";

/** `retryAfterMs`: the pause that the service asked for; null if it asked for none. */
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
  /** The time limit for the whole response, including the body. */
  readonly timeoutMs: number;
  /** The size limit for the body, enforced while it is read. */
  readonly limitBytes: number;
  /** Headers in addition to `accept` and `user-agent`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON body; if it is set, the request is a POST. */
  readonly json?: string;
}

/** The body of a 200 as text; redirects are not followed. */
export async function fetchText(of: BoundedRequest): Promise<Result<string, Outage>> {
  const bytes = await fetchBytes(of);
  return bytes.ok ? ok(new TextDecoder().decode(bytes.value)) : bytes;
}

/** The body of a 200; redirects are not followed. `accept`: the accepted media types. */
export function fetchBytes(of: BoundedRequest, accept = "application/json"): Promise<Result<Uint8Array, Outage>> {
  return abortedAfter(of.timeoutMs, (signal) => fetchUntil(signal, of, accept));
}

async function fetchUntil(
  signal: AbortSignal,
  of: BoundedRequest,
  accept: string,
): Promise<Result<Uint8Array, Outage>> {
  const type = of.json === undefined ? {} : { "content-type": "application/json" };
  const headers = { accept, "user-agent": "edgetill", ...type, ...of.headers };
  const send = of.json === undefined ? {} : { method: "POST", body: of.json };
  try {
    const response = await of.fetch(of.url, { ...send, headers, redirect: "manual", signal });
    if (response.status === 200) {
      const { bytes, isWhole } = await readBytes(response.body, { limitBytes: of.limitBytes, signal });
      return isWhole ? ok(bytes) : err(outage("TOO_LARGE", `more than ${of.limitBytes} bytes`));
    }
    return err(await outageOfStatus(response, signal));
  } catch (error) {
    const kind = signal.aborted ? "TIMEOUT" : "UNREACHABLE";
    return err(outage(kind, error instanceof Error ? error.message : String(error)));
  }
}

/** Statuses whose body may say how long requests will be refused. */
const REFUSALS: readonly number[] = [403, 429, 503];
const REFUSAL_BYTES = 1_024;

async function outageOfStatus(response: Response, signal: AbortSignal): Promise<Outage> {
  const { status, headers, body } = response;
  const message = `status ${status}`;
  const header = retryAfterMs(headers.get("retry-after"));
  if (!REFUSALS.includes(status) || header !== null) {
    await body?.cancel();
    return outage(kindOf(status, header !== null), message, header);
  }
  const limits = { limitBytes: REFUSAL_BYTES, keptBytes: REFUSAL_BYTES, signal, keepsBroken: true };
  const said = new TextDecoder().decode((await readBytes(body, limits)).bytes);
  return outage(kindOf(status, NAMES_LIMIT.test(said)), message, suspendedMs(said));
}

function kindOf(status: number, namesLimit: boolean): OutageKind {
  if (status === 429 || status === 418) return "RATE_LIMITED";
  if (status === 403 || (status === 503 && namesLimit)) return "BANNED";
  return status === 503 ? "UNAVAILABLE" : "BAD_STATUS";
}

const NAMES_LIMIT = /suspended|frequency|rate.?limit|too many|allowed_rps|daily usage/i;

/** Reads a `Retry-After` only if it is in seconds: a date would need a clock. */
function retryAfterMs(header: string | null): number | null {
  return header !== null && /^\d{1,5}$/.test(header) ? Number(header) * SECOND_MS : null;
}

/** TronGrid names its ban in the body: "the query server is suspended for 30s" (chains.md 1). */
function suspendedMs(said: string): number | null {
  const seconds = /\bsuspended for (\d{1,5}) ?s\b/i.exec(said)?.[1];
  return seconds === undefined ? null : Number(seconds) * SECOND_MS;
}

/**
 * Parses JSON and keeps every number as its source text, so that no number becomes a float. The engine's reviver provides that text
 * (`context.source`, in V8 since 11.4, so in workerd and in Node 22 and later); without it the shortest text of the number is used.
 * A text that starts like JSON but does not parse is TRUNCATED; any other text is NOT_JSON.
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

/** The body of a 200 as JSON with numbers as text. */
export async function fetchExactJson(of: BoundedRequest): Promise<Result<JsonText, Outage>> {
  const text = await fetchText(of);
  return text.ok ? parseExactJson(text.value) : text;
}

/** The body of a 200 as JSON with numbers as floats, for services whose relevant values are not numbers. */
export async function fetchPlainJson(of: BoundedRequest): Promise<Result<JsonText, Outage>> {
  const text = await fetchText(of);
  return text.ok ? parsedBy(() => JSON.parse(text.value), text.value) : text;
}

/** JSON with numbers as text. */
export type JsonText = string | boolean | null | readonly JsonText[] | { readonly [key: string]: JsonText };

function numberAsText(_key: string, value: JsonText | number, context?: { readonly source?: string }): JsonText {
  return typeof value === "number" ? (context?.source ?? String(value)) : value;
}
