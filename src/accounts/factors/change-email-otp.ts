import { ok, type Result } from "../../lib/result.ts";
import type { Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import type { Failure } from "../../platform/failures.ts";
import type { User } from "../users/user.ts";
import { switchEmailOtp } from "./store.ts";

/** Switches emailed codes as a second factor on or off. If the setting already has this value, nothing changes and nothing is recorded. */
export function changeEmailOtp(
  deps: CommitDependencies,
  of: { readonly user: User; readonly isOn: boolean; readonly trail: Trail },
): Promise<Result<undefined, Failure>> {
  const { db, nowMs } = deps;
  const { user, isOn, trail } = of;
  const action = isOn ? "email_otp.enabled" : "email_otp.disabled";
  const subject = { name: "switching mailed codes", read: () => ok(undefined) };
  return change(deps, subject, (_, { auditId: id, conflict }) =>
    ok({
      value: undefined,
      // The only possible conflict: the setting already has this value.
      statements:
        conflict !== undefined
          ? []
          : [
              ...switchEmailOtp(db, user.id, isOn, nowMs),
              insertAudit(db, trail, { id, merchantId: null, action, target: user.id }, nowMs),
            ],
    }),
  );
}
