import { forgetImages } from "../accounts/images/forget-images.ts";
import { waitingDependencies } from "../accounts/invitations/dependencies.ts";
import { sendWaiting } from "../accounts/invitations/send-waiting.ts";
import { forgetExpired } from "../accounts/sign-in/delete-expired.ts";
import { invoiceDependencies } from "../commerce/invoices/dependencies.ts";
import { expireInvoices, releaseAmounts } from "../commerce/invoices/expire-invoices.ts";
import { pricePayments } from "../detection/matching/price-payments.ts";
import { wakeDependencies } from "../detection/watchers/dependencies.ts";
import { wakeWatchers } from "../detection/watchers/wake-watchers.ts";
import { lazily } from "../lib/lazily.ts";
import { logAlert } from "../lib/log.ts";
import { sleep } from "../lib/sleep.ts";
import { deliverMessages } from "../notifications/deliveries/dependencies.ts";
import { wakeDue } from "../notifications/deliveries/wake-due.ts";
import { forgetDeliveries } from "../notifications/delivery-log/forget-deliveries.ts";
import { noticeDependencies } from "../notifications/notices/dependencies.ts";
import { sendNotices } from "../notifications/notices/send-notices.ts";
import { receiptDependencies } from "../notifications/receipts/dependencies.ts";
import { sendReceipts } from "../notifications/receipts/send-receipts.ts";
import { type Db, openWakingDb, wakeEndpoints } from "../platform/db/client.ts";
import { forgetEvents } from "../platform/events/forget-events.ts";
import { isDevelopment } from "../platform/http/deployment.ts";
import { forgetOperations } from "../platform/idempotency/store.ts";
import { createApp } from "./app.ts";
import { hasDevelopmentSetting } from "./configuration.ts";

export { CheckoutRoom } from "../checkout/live/checkout-room.ts";
export { AddressAllocator } from "../commerce/wallets/address-allocator.ts";
export { NetworkWatcher } from "../detection/watchers/network-watcher.ts";
export { RateLimiter } from "../platform/http/rate-limit.ts";
export { IdempotencyKeys } from "../platform/idempotency/idempotency-keys.ts";
export { DevMailbox } from "../platform/mail/dev-mailbox.ts";
export { RateBook } from "../rates/rate-book.ts";

/** Made with the first request: an isolate that only holds an object, or only runs the cron, needs no routes. */
const app = lazily(createApp);

export default {
  fetch: (request: Request, env, ctx) => app().fetch(request, env, ctx),
  async scheduled(_controller, env, ctx) {
    const nowMs = Date.now();
    const background = (work: Promise<unknown>) => ctx.waitUntil(work);
    const db = openWakingDb(env, background);
    const jobs = await Promise.allSettled([
      expire(env, db, nowMs),
      releaseAmounts({ db, nowMs }),
      pricePayments(invoiceDependencies(env, { db, nowMs, sleep })),
      forgetOperations(db, nowMs),
      forgetExpired(db, nowMs),
      forgetEvents(db, nowMs),
      forgetDeliveries(db, nowMs),
      forgetImages(db, nowMs),
      wakeWatchers(wakeDependencies(env, { db, nowMs })),
      sendReceipts(receiptDependencies(env, db)),
      sendWaiting(waitingDependencies(env, { db, nowMs, background })),
      sendNotices(noticeDependencies(env, { db, nowMs, background })),
      wakeDue({ db, nowMs, wakeAll: (ids) => wakeEndpoints(env, ids) }),
    ]);
    // Each job runs even if others fail; a failed one still fails the run, for the platform's log.
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
  const { left } = await expireInvoices(invoiceDependencies(env, { db, nowMs, sleep }));
  if (left.length > 0) logAlert("invoices left unsettled", { left });
}
