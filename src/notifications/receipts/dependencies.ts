import { logAlert } from "../../lib/log.ts";
import { sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import { mailClientOf } from "../../platform/mail/dependencies.ts";
import type { ReceiptDependencies } from "./send-receipts.ts";

export function receiptDependencies(env: Env, db: Db): ReceiptDependencies {
  const nowMs = () => Date.now();
  return {
    db,
    nowMs,
    sleep,
    random: Math.random,
    client: mailClientOf(env, nowMs),
    publicUrl: publicUrl(env),
    report: logAlert,
  };
}
