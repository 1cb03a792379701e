import { commitAudited } from "../audit/commit-audited.ts";
import type { Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Person } from "../users/person.ts";
import { switchEmailOtp } from "./store.ts";

/** Switches mailed codes as a second factor on or off. Where it is so already nothing changes, and nothing is recorded. */
export async function changeEmailOtp(
  fx: { readonly db: Db; readonly nowMs: number; readonly sleep: Sleep; readonly newOperationId: () => string },
  of: { readonly person: Person; readonly isOn: boolean; readonly trail: Trail },
): Promise<Result<undefined, Failure>> {
  const { db, nowMs } = fx;
  const { person, isOn, trail } = of;
  const id = derivedId("aud", fx.newOperationId());
  const action = isOn ? "email_otp.enabled" : "email_otp.disabled";
  const committed = await commitAudited(fx, id, [
    ...switchEmailOtp(db, person.id, isOn, nowMs),
    insertAudit(db, trail, { id, merchantId: null, action, target: person.id }, nowMs),
  ]);
  // The one thing that can be in the way is that it is switched so already.
  return committed.kind === "unknown" ? err({ code: "STORAGE_UNAVAILABLE" }) : ok(undefined);
}
