import type { Trail } from "../../platform/audit/entry.ts";
import type { MemberPrincipal, MerchantPrincipal } from "../auth/principal.ts";

/** The calling member of a route with `callers: "MEMBER"`, and the dependencies with their trail. Keys were refused earlier. */
export function callerOf<Deps>(call: {
  readonly deps: Deps;
  readonly trail: Trail;
  readonly principal: MerchantPrincipal;
}): {
  readonly deps: Deps & { readonly trail: Trail };
  readonly seat: MemberPrincipal;
} {
  const { principal } = call;
  if (principal.kind === "API_KEY") throw new Error("an API key reached a route for members only");
  return { deps: { ...call.deps, trail: call.trail }, seat: principal };
}
