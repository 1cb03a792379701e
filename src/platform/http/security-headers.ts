/**
 * Headers of every answer: nothing here is a page to frame, sniff, cache or run scripts in; a page brings its own policy. Handed over when
 * an answer is made, because each change of a finished answer's headers is a call into the runtime.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=63072000; includeSubDomains",
  "x-frame-options": "DENY",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

/** For answers that pages of any origin may read (decisions 1). Exposes the headers that a page acts on, which scripts cannot read by default. */
export const FOR_ANY_ORIGIN: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "retry-after, ratelimit, ratelimit-policy, idempotent-replayed, x-request-id",
};

/** Headers of one answer; `own` wins over what holds for all. */
export function answerHeaders(requestId: string, own: Readonly<Record<string, string>>): Record<string, string> {
  return { ...SECURITY_HEADERS, "x-request-id": requestId, ...own };
}
