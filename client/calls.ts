// Turns a client method into a request: the address, the query, and the transport that holds the key.
import { ROUTES } from "./api-types.ts";
import type { PublicCall } from "./public.ts";
import { open, type Request, send, type Transport } from "./request.ts";
import type { Call, Open } from "./resources.ts";

/** The address and key of a client, and how long it waits and retries. */
export interface EdgetillOptions {
  /** The service's address: `https://pay.example.com`. */
  readonly baseUrl: string;
  /** A secret key, `sk_...`, or for `EdgetillPublic` a public one, `pk_...`. It is sent as a header and nowhere else. */
  readonly apiKey: string;
  /** `mer_...`: the merchant that the key belongs to. */
  readonly merchantId: string;
  /** A `fetch` to use instead of the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
  /** Attempts after the first, for a call that failed for a temporary reason; 3 by default. */
  readonly maxRetries?: number | undefined;
  /** Time limit of one attempt; 30,000 by default. The service itself may wait 10 s for another request with the same Idempotency-Key. */
  readonly timeoutMs?: number | undefined;
  /**
   * Before the first retry the client waits a random time up to `baseMs`; the limit doubles with each further retry, up to `capMs`. 500 and 8,000
   * by default.
   */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number } | undefined;
}

export interface Calls {
  readonly call: Call;
  readonly open: Open;
  readonly callPublic: PublicCall;
}

/** The key lives only in this closure, so that printing the client does not show it. */
export function callsOf(options: EdgetillOptions): Calls {
  const { apiKey, baseUrl, merchantId } = options;
  // The runtime's error message would repeat a key that does not fit into a header.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey is missing, or is not an API key");
  const merchantUrl = `${new URL(baseUrl).href.replace(/\/+$/, "")}/api/v1/merchants/merchant/${segment("merchantId", merchantId)}`;
  const transport: Transport = {
    apiKey,
    // Wrapped, because Workers refuse to call `fetch` as a method of another object.
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

/** An id as one segment of a path. An empty id, `.` or `..` would lead to another route. */
function segment(name: string, id: string): string {
  if (id === "" || id === "." || id === "..") throw new TypeError(`${name} is missing, or is not an id`);
  return encodeURIComponent(id);
}

function queryText(query: object = {}): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) text.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return text.size === 0 ? "" : `?${text}`;
}
