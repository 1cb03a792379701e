/**
 * Headers of every response: no framing, content sniffing, caching or scripts. A page replaces the policy with its own. Set when a response is built,
 * because each later change to a header is a call into the runtime.
 */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=63072000; includeSubDomains",
  "x-frame-options": "DENY",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

/** For responses that pages from any origin may read (decisions 1). Exposes headers that scripts need and cannot read by default. */
const FOR_ANY_ORIGIN: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "retry-after, ratelimit, ratelimit-policy, idempotent-replayed, x-request-id, x-warning",
};

/** `FOR_ANY_ORIGIN`, with a warning if a page sent a secret key: the page has exposed the key to all of its visitors. */
export function forAnyOrigin(header: (name: string) => string | undefined): Readonly<Record<string, string>> {
  const isShown = header("origin") !== undefined && header("x-api-key")?.startsWith("sk_");
  return isShown ? { ...FOR_ANY_ORIGIN, "x-warning": "SECRET_KEY_IN_BROWSER" } : FOR_ANY_ORIGIN;
}

/** The headers of one response: those of every response, and `own`, which replaces headers of the same name. */
export function answerHeaders(requestId: string, own: Readonly<Record<string, string>>): Record<string, string> {
  return { ...SECURITY_HEADERS, "x-request-id": requestId, ...own };
}
