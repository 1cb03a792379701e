import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import type { Failure } from "../../platform/failures.ts";
import type { ProvedSession } from "./session.ts";
import { selectSessionByToken } from "./store.ts";

/** Why a batch that depends on a session and a factor failed: UNAUTHORIZED if the session ended or has a new token, otherwise `otherwise`. */
export async function readLostRace(
  deps: { readonly db: Db; readonly sleep: Sleep },
  session: ProvedSession,
  otherwise: Failure,
): Promise<Failure> {
  const rows = await readWithRetry(deps.sleep, async () => selectSessionByToken(deps.db, session.tokenHash));
  if (!rows.ok) return rows.error;
  const [held] = rows.value;
  return held === undefined || held.revokedAtMs !== null ? { code: "UNAUTHORIZED" } : otherwise;
}
