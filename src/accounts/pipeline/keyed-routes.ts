// Which routes honour an Idempotency-Key (decisions 6): every one that changes something, but for those named here.
import type { RouteSpec } from "../../platform/http/route.ts";

/** What has no key, by method, kind of caller, chapter or operation. */
const WITHOUT_KEY: readonly string[] = [
  // Changes nothing.
  "GET",
  // Callers who have proved nothing: a key belongs to somebody. (A payer's pick has one, in the name space of the invoice's page.)
  "ANYBODY",
  // MCP, whose tools carry one each.
  "KEY",
  // Answers that are cookies, and codes that work once; and who has signed out cannot prove any more who asks.
  "Sign-in",
  // Each answers with a cookie, which is not stored. The first also ends the session that asked.
  "confirmTotp",
  "startIdentityLink",
];

export function honoursKey({ method, callers, tag, operationId }: Omit<RouteSpec, "isIdempotent">): boolean {
  return ![method, callers, tag, operationId].some((each) => WITHOUT_KEY.includes(each));
}
