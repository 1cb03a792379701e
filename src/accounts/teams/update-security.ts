import { derivedId } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { changedFacts } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { checkWeakening, type Watch } from "../protections/check-weakening.ts";
import {
  changedPolicy,
  type PolicyChanges,
  policyRefusal,
  type SecurityPolicy,
  type SignInProvider,
} from "../security-policies/security-policy.ts";
import type { User } from "../users/user.ts";
import { changeTeam, readActors, type TeamDependencies } from "./change-team.ts";
import type { Seat } from "./member.ts";
import { assertPolicy, assertSeat, selectTeam, setPolicy } from "./store.ts";

/** Changes the team's security settings; fields that are left out keep their values. Writes nothing if nothing changes. */
export async function updateSecurity(
  deps: TeamDependencies & { readonly configured: ReadonlySet<SignInProvider>; readonly mailer: Mailer },
  of: { readonly seat: Seat; readonly user: User; readonly watch: Watch },
  changes: PolicyChanges,
): Promise<Result<SecurityPolicy, Failure>> {
  const { seat, user } = of;
  const { merchantId } = seat;
  const read = async () => {
    const actors = await readActors(deps, seat, { permission: "team:view" });
    if (!actors.ok) return actors;
    const rows = await readWithRetry(deps.sleep, async () => selectTeam(deps.db, merchantId));
    if (!rows.ok) return rows;
    const [team] = rows.value;
    if (team === undefined) throw new Error(`the merchant ${merchantId} has no team`);
    return ok({ actor: actors.value.actor, present: changedPolicy(team, {}) });
  };
  return changeTeam(deps, read, ({ actor, present }, operationId) => {
    if (actor.role !== "OWNER") return err({ code: "OWNER_REQUIRED" });
    const wanted = changedPolicy(present, changes);
    const refusal = policyRefusal({ present, wanted }, user, deps.configured);
    if (refusal !== undefined) return err(refusal);
    const facts = changedFacts({ ...present }, { ...wanted });
    if (Object.keys(facts.after).length === 0) return ok({ value: present });
    const weighed = checkWeakening(deps, of.watch, "updateTeamSecurity", facts);
    if (!weighed.ok) return weighed;
    const { facts: said, ...more } = weighed.value;
    const entry = {
      id: derivedId("aud", operationId),
      merchantId,
      action: "team.security_updated",
      target: merchantId,
      ...said,
    } as const;
    return ok({
      ...more,
      value: wanted,
      statements: [
        assertSeat(deps.db, actor),
        assertPolicy(deps.db, merchantId, present),
        setPolicy(deps.db, merchantId, wanted, deps.nowMs),
        insertAudit(deps.db, deps.trail, entry, deps.nowMs),
      ],
    });
  });
}
