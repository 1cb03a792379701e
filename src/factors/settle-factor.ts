// A factor given inside a session: it settles what the sign-in owed, or steps the session up. One batch uses the factor up, replaces the
// session's token and records it, so that a factor never counts twice and an old token never lives on.
import { commitAudited } from "../audit/commit-audited.ts";
import { insertAudit } from "../audit/store.ts";
import type { Failure } from "../failures.ts";
import { derivedId } from "../lib/ids.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { giveFactor } from "../sessions/open-session.ts";
import type { Person } from "../users/person.ts";
import { wrongFactor } from "./factor-proof.ts";
import { type FactorAttempt, type FactorEffects, proveFactor } from "./prove-factor.ts";
import { readLostRace } from "./read-lost-race.ts";
import { assertSessionHeld } from "./store.ts";

export interface SettledFactor {
  /** The session's new token. */
  readonly token: string;
  readonly state: "ACTIVE";
  readonly person: Person;
}

/** As `proveFactor`; whoever comes second with the same factor is told that it is wrong, with the same token UNAUTHORIZED. */
export async function settleFactor(fx: FactorEffects, of: FactorAttempt): Promise<Result<SettledFactor, Failure>> {
  const { person, session } = of.principal;
  const proved = await proveFactor(fx, of);
  if (!proved.ok) return proved;
  const { factor, statements } = proved.value;
  const { token, statement } = giveFactor(fx, session, factor);
  const id = derivedId("aud", fx.newOperationId());
  const entry = {
    id,
    merchantId: null,
    action: "session.stepped_up",
    target: session.id,
    after: { factor, wasPending: session.state === "PENDING_2FA" },
  } as const;
  const committed = await commitAudited(fx, id, [
    assertSessionHeld(fx.db, session),
    ...statements,
    statement,
    insertAudit(fx.db, of.trail, entry, fx.nowMs),
  ]);
  if (committed.kind === "conflict") return err(await readLostRace(fx, session, wrongFactor(of.proof.factor)));
  if (committed.kind === "unknown") return err({ code: "STORAGE_UNAVAILABLE" });
  return ok({ token, state: "ACTIVE", person });
}
