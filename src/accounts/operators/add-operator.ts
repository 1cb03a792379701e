import { emailKeyOf } from "../../lib/email.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import { batch } from "../../platform/db/batch.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { mailWeakening } from "../protections/check-weakening.ts";
import { selectUserByEmail, type UserRow } from "../users/store.ts";
import type { User } from "../users/user.ts";
import type { Operator } from "./operator-body.ts";
import { assertNoOperator, assertOperator, makeOperator, type OperatorRow, selectOperators } from "./store.ts";

interface Found {
  readonly user: UserRow;
  readonly operators: readonly OperatorRow[];
}

/**
 * Makes the user with this address an operator and emails all operators; writes nothing if the user already is one. Fails with USER_NOT_FOUND, or
 * with OPERATOR_REQUIRED if the actor is no longer an operator.
 */
export function addOperator(
  deps: CommitDependencies & { readonly mailer: Mailer },
  of: { readonly email: string; readonly actor: Pick<User, "id" | "email">; readonly trail: Trail },
): Promise<Result<Operator, Failure>> {
  const { db, nowMs } = deps;
  const read = async (): Promise<Result<Found, Failure>> => {
    const rows = await readWithRetry(deps.sleep, async () =>
      batch(db, [selectUserByEmail(db, emailKeyOf(of.email)), selectOperators(db)]),
    );
    if (!rows.ok) return rows;
    const [[known], operators] = rows.value;
    if (!operators.some(({ id }) => id === of.actor.id)) return err({ code: "OPERATOR_REQUIRED" });
    return known === undefined ? err({ code: "USER_NOT_FOUND" }) : ok({ user: known.user, operators });
  };
  return change<Found, Operator>(deps, { name: "a new operator", read }, ({ user, operators }, { auditId }) => {
    const { id, email, name, operatorSinceMs } = user;
    if (operatorSinceMs !== null) return ok({ value: { id, email, name, sinceMs: operatorSinceMs } });
    const weakens = [`Operators of the deployment: ${email} is one now`];
    const after = { email, weakens };
    const entry = { id: auditId, merchantId: null, action: "operator.added", target: id, after } as const;
    const watch = { place: "the deployment", author: of.actor.email, readers: operators.map((each) => each.email) };
    return ok({
      value: { id, email, name, sinceMs: nowMs },
      statements: [
        assertOperator(db, of.actor.id),
        assertNoOperator(db, id),
        makeOperator(db, id, nowMs),
        insertAudit(db, of.trail, entry, nowMs),
      ],
      afterwards: () => mailWeakening(deps, watch, weakens),
    });
  });
}
