import type { Db } from "../db/client.ts";
import { publicUrl } from "../http/deployment.ts";
import { sleep } from "../lib/sleep.ts";
import { mailClientOf } from "../mail/effects.ts";
import type { ReceiptEffects } from "./send-receipts.ts";

export function receiptEffects(env: Env, db: Db): ReceiptEffects {
  const nowMs = () => Date.now();
  return {
    db,
    nowMs,
    sleep,
    random: Math.random,
    client: mailClientOf(env, nowMs),
    publicUrl: publicUrl(env),
    report: (alert, facts) => console.error(JSON.stringify({ level: "error", alert, ...facts })),
  };
}
