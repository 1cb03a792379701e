import type { Trail } from "../audit/entry.ts";
import type { MemberPrincipal, MerchantPrincipal } from "../auth/principal.ts";

/** The member behind a call of a route with `callers: "MEMBER"`, and the world with their trail. A key never gets so far. */
export function callerOf<Fx>(call: { readonly fx: Fx; readonly trail: Trail; readonly principal: MerchantPrincipal }): {
  readonly fx: Fx & { readonly trail: Trail };
  readonly seat: MemberPrincipal;
} {
  const { principal } = call;
  if (principal.kind === "API_KEY") throw new Error("an API key came to a route of members");
  return { fx: { ...call.fx, trail: call.trail }, seat: principal };
}
