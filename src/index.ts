import { openDb } from "./db/client.ts";
import { createApp } from "./http/app.ts";
import { forgetOperations } from "./idempotency/store.ts";
import { invoiceEffects } from "./invoices/effects.ts";
import { expireInvoices, releaseAmounts } from "./invoices/expire-invoices.ts";

import { sleep } from "./lib/sleep.ts";

export { RateLimiter } from "./http/rate-limit.ts";
export { IdempotencyKeys } from "./idempotency/idempotency-keys.ts";
export { RateBook } from "./rates/rate-book.ts";
export { AddressAllocator } from "./wallets/address-allocator.ts";

const app = createApp();

export default {
  fetch: app.fetch,
  async scheduled(_controller, env) {
    const nowMs = Date.now();
    const db = openDb(env.DB);
    const jobs = await Promise.allSettled([
      expire(invoiceEffects(env, { db, nowMs, sleep })),
      releaseAmounts({ db, nowMs }),
      forgetOperations(db, nowMs),
    ]);
    // Each job runs whatever became of the others; a failed one still fails the run, for the platform's log.
    for (const job of jobs) if (job.status === "rejected") throw job.reason;
  },
} satisfies ExportedHandler<Env>;

async function expire(fx: ReturnType<typeof invoiceEffects>): Promise<void> {
  const { left } = await expireInvoices(fx);
  if (left.length > 0)
    console.error(JSON.stringify({ level: "error", alert: "invoices left unsettled", invoiceIds: left }));
}
