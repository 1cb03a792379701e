// Accepts a factor within a session: it completes the sign-in or steps the session up. One batch marks the factor as used, replaces the session's
// token and records the change, so that a factor never counts twice and an old token never stays valid.

import type { Result } from "../../lib/result.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { changeOnce } from "../../platform/changes/change.ts";
import type { Failure } from "../../platform/failures.ts";
import { giveFactor } from "../sessions/open-session.ts";
import { readLostRace } from "../sessions/read-lost-race.ts";
import { assertSessionHeld } from "../sessions/store.ts";
import type { User } from "../users/user.ts";
import { wrongFactor } from "./factor-proof.ts";
import { type FactorAttempt, type FactorDependencies, proveFactor } from "./prove-factor.ts";

interface SettledFactor {
  /** The session's new token. */
  readonly token: string;
  readonly state: "ACTIVE";
  readonly user: User;
}

/**
 * Refuses like `proveFactor`. Of two requests with the same factor, the second is refused as if the factor were wrong; of two with the same token,
 * the second gets UNAUTHORIZED.
 */
export async function settleFactor(
  deps: FactorDependencies,
  of: FactorAttempt,
): Promise<Result<SettledFactor, Failure>> {
  const { user, session } = of.principal;
  const proved = await proveFactor(deps, of);
  if (!proved.ok) return proved;
  const { factor, statements } = proved.value;
  const { token, statement } = giveFactor(deps, session, factor);
  const refusal = () => readLostRace(deps, session, wrongFactor(of.proof.factor));
  return changeOnce(deps, { name: "giving a factor", refusal }, ({ auditId: id }) => {
    const after = { factor, wasPending: session.state === "PENDING_2FA" };
    const entry = { id, merchantId: null, action: "session.stepped_up", target: session.id, after } as const;
    return {
      value: { token, state: "ACTIVE", user },
      statements: [
        assertSessionHeld(deps.db, session),
        ...statements,
        statement,
        insertAudit(deps.db, of.trail, entry, deps.nowMs),
      ],
    };
  });
}
