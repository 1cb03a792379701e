// From a method of the client to a request: the address, the query, and the transport with the key in it.
import { ROUTES } from "./api-types.ts";
import type { PublicCall } from "./public.ts";
import { open, type Request, send, type Transport } from "./request.ts";
import type { Call, Open } from "./resources.ts";

/** What a client needs to know, and how patient it is. */
export interface EdgetillOptions {
  /** Where the service is: `https://pay.example.com`. */
  readonly baseUrl: string;
  /** A secret key, `sk_...`, or for `EdgetillPublic` a public one, `pk_...`. It is sent as a header and nowhere else. */
  readonly apiKey: string;
  /** `mer_...`: whose key it is. */
  readonly merchantId: string;
  /** Instead of the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
  /** Attempts after the first, of a call that failed for a passing reason; 3 unless given. */
  readonly maxRetries?: number | undefined;
  /** Of one attempt; 30,000 unless given. The service itself may wait 10 s for another request with the same Idempotency-Key. */
  readonly timeoutMs?: number | undefined;
  /** The first wait before a retry is random up to `baseMs`, each next up to twice that, at most `capMs`; 500 and 8,000 unless given. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number } | undefined;
}

export interface Calls {
  readonly call: Call;
  readonly open: Open;
  readonly callPublic: PublicCall;
}

/** The key lives in this closure alone, so that no print of the client shows it. */
export function callsOf(options: EdgetillOptions): Calls {
  const { apiKey, baseUrl, merchantId } = options;
  // What fits no header would come back in the message of the runtime's error.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey is missing, or is no API key");
  const merchantUrl = `${new URL(baseUrl).href.replace(/\/+$/, "")}/api/v1/merchants/merchant/${segment("merchantId", merchantId)}`;
  const transport: Transport = {
    apiKey,
    // Not the bare function: Workers refuse to call it as a method of something else.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    maxRetries: options.maxRetries ?? 3,
    timeoutMs: options.timeoutMs ?? 30_000,
    backoff: options.backoff ?? { baseMs: 500, capMs: 8_000 },
  };
  const requestOf = (name: keyof typeof ROUTES, parts: Parts): Request => {
    const route = ROUTES[name];
    const [method = "", path = ""] = route.split(" ");
    const below = path.replace(/\{(\w+)\}/g, (_, param: string) => segment(param, parts.params?.[param] ?? ""));
    const url = `${merchantUrl}${below}${queryText(parts.query)}`;
    return { method, url, route, body: parts.body };
  };
  return {
    call: async (name, parts: Parts, callOptions = {}) => send(transport, requestOf(name, parts), callOptions),
    open: async (name, query, callOptions = {}) => open(transport, requestOf(name, { query }), callOptions),
    callPublic: async (name, parts: Parts, { turnstileToken, ...callOptions } = {}) =>
      send(transport, { ...requestOf(name, parts), turnstileToken }, callOptions),
  };
}

interface Parts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: object;
}

/** An id as one segment of a path. An empty one, or one that climbs, would be another route. */
function segment(name: string, id: string): string {
  if (id === "" || id === "." || id === "..") throw new TypeError(`${name} is missing, or is no id`);
  return encodeURIComponent(id);
}

function queryText(query: object = {}): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) text.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return text.size === 0 ? "" : `?${text}`;
}
