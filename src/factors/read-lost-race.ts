import type { Db } from "../db/client.ts";
import { readWithRetry } from "../db/retry.ts";
import type { Failure } from "../failures.ts";
import type { Sleep } from "../lib/sleep.ts";
import type { ProvedSession } from "../sessions/session.ts";
import { selectSessionByToken } from "../sessions/store.ts";

/** Why a batch that rests on a session and a factor was refused: the session's token is replaced or ended, or else `otherwise`. */
export async function readLostRace(
  fx: { readonly db: Db; readonly sleep: Sleep },
  session: ProvedSession,
  otherwise: Failure,
): Promise<Failure> {
  const rows = await readWithRetry(fx.sleep, async () => selectSessionByToken(fx.db, session.tokenHash));
  if (!rows.ok) return rows.error;
  const [held] = rows.value;
  return held === undefined || held.revokedAtMs !== null ? { code: "UNAUTHORIZED" } : otherwise;
}
