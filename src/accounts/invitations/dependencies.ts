import { sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { mailerOf } from "../../platform/mail/dependencies.ts";
import { newToken } from "../sessions/open-session.ts";
import type { WaitingDependencies } from "./send-waiting.ts";

/** Dependencies of the cron job that sends waiting invitation emails. */
export function waitingDependencies(
  env: Env,
  given: { readonly db: Db; readonly nowMs: number; readonly background: (work: Promise<unknown>) => void },
): WaitingDependencies {
  const { db, nowMs } = given;
  return { db, nowMs, sleep, newToken, mailer: mailerOf(env, given), publicUrl: publicUrl(env) };
}
