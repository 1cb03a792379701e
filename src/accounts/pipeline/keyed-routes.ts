// Which routes honour an Idempotency-Key (decisions 6): all that change something, except those listed here.
import type { RouteSpec } from "../../platform/http/route.ts";

/** Routes without a key, by method, kind of caller, chapter or operation. */
const WITHOUT_KEY: readonly string[] = [
  // Changes nothing.
  "GET",
  // Unauthenticated callers: a key has an owner. (A payer's choice of method has one, in the name space of the invoice's page.)
  "ANYBODY",
  // MCP, whose tools each take their own key.
  "KEY",
  // Answers that are cookies, and codes that work once; after signing out, a caller can no longer prove who they are.
  "Sign-in",
  // Each answers with a cookie, which is not stored. The first also ends the session that asked.
  "confirmTotp",
  "startIdentityLink",
];

export function honoursKey({ method, callers, tag, operationId }: Omit<RouteSpec, "isIdempotent">): boolean {
  return ![method, callers, tag, operationId].some((each) => WITHOUT_KEY.includes(each));
}
