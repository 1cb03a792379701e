// Which routes honour an Idempotency-Key (decisions 6): all that change something, except those listed here.
import type { RouteSpec } from "../../platform/http/route.ts";

/** Routes without a key, by method, kind of caller, tag or operation. */
const WITHOUT_KEY: readonly string[] = [
  // GET requests change nothing.
  "GET",
  // Unauthenticated callers, because a key needs an owner. (A payer's choice of method does take a key, which belongs to the invoice's page.)
  "ANYBODY",
  // MCP, whose tools each take their own key.
  "KEY",
  // Sign-in routes answer with cookies, or with codes that work only once; and after signing out, a caller can no longer prove who they are.
  "Sign-in",
  // Each answers with a cookie, which is not stored. The first also replaces the token of the caller's session.
  "confirmTotp",
  "startIdentityLink",
];

export function honoursKey({ method, callers, tag, operationId }: Omit<RouteSpec, "isIdempotent">): boolean {
  return ![method, callers, tag, operationId].some((each) => WITHOUT_KEY.includes(each));
}
