import { commitAudited } from "../audit/commit-audited.ts";
import { changedFacts, type Trail } from "../audit/entry.ts";
import { insertAudit } from "../audit/store.ts";
import type { Db } from "../db/client.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { Person } from "./person.ts";
import { renameUser, selectAccount } from "./store.ts";

export interface AccountEffects {
  readonly db: Db;
  readonly nowMs: number;
  readonly sleep: Sleep;
  readonly newOperationId: () => string;
}

/** Read with the caller, who is not proved yet. */
export function accountReads(db: Db, tokenHash: string) {
  return [selectAccount(db, tokenHash)] as const;
}

/** The name that a team sees; a change that changes nothing writes nothing. */
export async function updatePerson(
  fx: AccountEffects,
  of: { readonly person: Person; readonly name: string; readonly trail: Trail },
): Promise<Result<Person, Failure>> {
  const { person, name, trail } = of;
  if (name === person.name) return ok(person);
  const id = derivedId("aud", fx.newOperationId());
  const facts = changedFacts({ name: person.name }, { name });
  const entry = { id, merchantId: null, action: "user.updated", target: person.id, ...facts } as const;
  const committed = await commitAudited(fx, id, [
    renameUser(fx.db, person.id, name, fx.nowMs),
    insertAudit(fx.db, trail, entry, fx.nowMs),
  ]);
  return committed.kind === "stands" ? ok({ ...person, name }) : err({ code: "STORAGE_UNAVAILABLE" });
}
