import { changedFacts } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Person } from "../users/person.ts";
import { changeTeam, readActors, type TeamEffects } from "./change-team.ts";
import type { Seat } from "./member.ts";
import {
  changedPolicy,
  type PolicyChanges,
  policyRefusal,
  type SecurityPolicy,
  type SignInProvider,
} from "./security-policy.ts";
import { assertPolicy, assertSeat, selectTeam, setPolicy } from "./store.ts";

/** Changes what the team demands; absent fields stay. A PATCH that changes nothing writes nothing. */
export async function updateSecurity(
  fx: TeamEffects & { readonly configured: ReadonlySet<SignInProvider> },
  of: { readonly seat: Seat; readonly person: Person },
  changes: PolicyChanges,
): Promise<Result<SecurityPolicy, Failure>> {
  const { seat, person } = of;
  const { merchantId } = seat;
  const read = async () => {
    const actors = await readActors(fx, seat, { permission: "team:view" });
    if (!actors.ok) return actors;
    const rows = await readWithRetry(fx.sleep, async () => selectTeam(fx.db, merchantId));
    if (!rows.ok) return rows;
    const [team] = rows.value;
    if (team === undefined) throw new Error(`the merchant ${merchantId} has no team`);
    return ok({ actor: actors.value.actor, present: changedPolicy(team, {}) });
  };
  return changeTeam(fx, read, ({ actor, present }, operationId) => {
    if (actor.role !== "OWNER") return err({ code: "OWNER_REQUIRED" });
    const wanted = changedPolicy(present, changes);
    const refusal = policyRefusal({ present, wanted }, person, fx.configured);
    if (refusal !== undefined) return err(refusal);
    const facts = changedFacts({ ...present }, { ...wanted });
    if (Object.keys(facts.after).length === 0) return ok({ value: present, statements: [] });
    const entry = {
      id: derivedId("aud", operationId),
      merchantId,
      action: "team.security_updated",
      target: merchantId,
      ...facts,
    } as const;
    return ok({
      value: wanted,
      statements: [
        assertSeat(fx.db, actor),
        assertPolicy(fx.db, merchantId, present),
        setPolicy(fx.db, merchantId, wanted, fx.nowMs),
        insertAudit(fx.db, fx.trail, entry, fx.nowMs),
      ],
    });
  });
}
