import { hasDevelopmentSetting } from "./configuration.ts";
import type { Db } from "./db/client.ts";
import { deliverMessages } from "./deliveries/effects.ts";
import { wakeDue } from "./deliveries/wake-due.ts";
import { forgetDeliveries } from "./delivery-log/forget-deliveries.ts";
import { forgetEvents } from "./events/forget-events.ts";
import { createApp } from "./http/app.ts";
import { isDevelopment } from "./http/deployment.ts";
import { forgetOperations } from "./idempotency/store.ts";
import { invoiceEffects } from "./invoices/effects.ts";
import { expireInvoices, releaseAmounts } from "./invoices/expire-invoices.ts";
import { sleep } from "./lib/sleep.ts";
import { pricePayments } from "./payments/price-payments.ts";
import { receiptEffects } from "./receipts/effects.ts";
import { sendReceipts } from "./receipts/send-receipts.ts";
import { forgetExpired } from "./sign-in/delete-expired.ts";
import { wakeEffects } from "./watchers/effects.ts";
import { wakeWatchers } from "./watchers/wake-watchers.ts";
import { openWakingDb, wakeEndpoints } from "./webhooks/effects.ts";

export { CheckoutRoom } from "./checkout-rooms/checkout-room.ts";
export { RateLimiter } from "./http/rate-limit.ts";
export { IdempotencyKeys } from "./idempotency/idempotency-keys.ts";
export { DevMailbox } from "./mail/dev-mailbox.ts";
export { RateBook } from "./rates/rate-book.ts";
export { AddressAllocator } from "./wallets/address-allocator.ts";
export { NetworkWatcher } from "./watchers/network-watcher.ts";

const app = createApp();

export default {
  fetch: app.fetch,
  async scheduled(_controller, env, ctx) {
    const nowMs = Date.now();
    const db = openWakingDb(env, (work) => ctx.waitUntil(work));
    const jobs = await Promise.allSettled([
      expire(env, db, nowMs),
      releaseAmounts({ db, nowMs }),
      pricePayments(invoiceEffects(env, { db, nowMs, sleep })),
      forgetOperations(db, nowMs),
      forgetExpired(db, nowMs),
      forgetEvents(db, nowMs),
      forgetDeliveries(db, nowMs),
      wakeWatchers(wakeEffects(env, { db, nowMs })),
      sendReceipts(receiptEffects(env, db)),
      wakeDue({ db, nowMs, wakeAll: (ids) => wakeEndpoints(env, ids) }),
    ]);
    // Each job runs whatever became of the others; a failed one still fails the run, for the platform's log.
    for (const job of jobs) if (job.status === "rejected") throw job.reason;
  },
  async queue({ messages }, env, ctx) {
    const background = (work: Promise<unknown>) => ctx.waitUntil(work);
    // Nothing is served with them (http/app.ts), so nothing is sent.
    if (!isDevelopment(env) && hasDevelopmentSetting(env)) return;
    const work = deliverMessages(messages, env, background);
    // In production concurrency is the platform's. The development server runs the batches of a queue one after the other: there an endpoint that
    // hangs would hold all others, were it waited for (queue_consumer_no_wait_for_wait_until).
    if (isDevelopment(env)) background(work);
    else await work;
  },
} satisfies ExportedHandler<Env>;

async function expire(env: Env, db: Db, nowMs: number): Promise<void> {
  const { left } = await expireInvoices(invoiceEffects(env, { db, nowMs, sleep }));
  if (left.length > 0) console.error(JSON.stringify({ level: "error", alert: "invoices left unsettled", left }));
}
