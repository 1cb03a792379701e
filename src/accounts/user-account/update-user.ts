import { ok, type Result } from "../../lib/result.ts";
import { changedFacts, type Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, changeOnce } from "../../platform/changes/change.ts";
import type { Db } from "../../platform/db/client.ts";
import type { Failure } from "../../platform/failures.ts";
import { renameUser, selectAccount } from "../users/store.ts";
import type { User } from "../users/user.ts";

type AccountDependencies = CommitDependencies;

/** Reads the account in the storage call that authenticates the caller. */
export function accountReads(db: Db, tokenHash: string) {
  return [selectAccount(db, tokenHash)] as const;
}

/** Changes the name that teams see; writes nothing if it is the same. */
export async function updateUser(
  deps: AccountDependencies,
  of: { readonly user: User; readonly name: string; readonly trail: Trail },
): Promise<Result<User, Failure>> {
  const { user, name, trail } = of;
  if (name === user.name) return ok(user);
  return changeOnce(deps, { name: "renaming a user", refusal: { code: "STORAGE_UNAVAILABLE" } }, ({ auditId: id }) => {
    const facts = changedFacts({ name: user.name }, { name });
    const entry = { id, merchantId: null, action: "user.updated", target: user.id, ...facts } as const;
    return {
      value: { ...user, name },
      statements: [renameUser(deps.db, user.id, name, deps.nowMs), insertAudit(deps.db, trail, entry, deps.nowMs)],
    };
  });
}
