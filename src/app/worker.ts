import { sleep } from "../lib/sleep.ts";
import { deliverMessages } from "../notifications/deliveries/dependencies.ts";
import { withDeploymentOrThrow } from "../platform/deployment/read-deployment.ts";
import { isDevelopment } from "../platform/http/deployment.ts";
import { app } from "./app.ts";
import { hasDevelopmentSetting } from "./configuration/configuration.ts";
import { dispatchJobs, namesJob, runJobMessage } from "./jobs.ts";

export { CheckoutRoom } from "../checkout/live/checkout-room.ts";
export { AmountAllocator } from "../commerce/amounts/amount-allocator.ts";
export { AddressAllocator } from "../commerce/wallets/address-allocator.ts";
export { NetworkWatcher } from "../detection/watchers/network-watcher.ts";
export { Directory } from "../platform/directory/directory.ts";
export { RateLimiter } from "../platform/http/rate-limit.ts";
export { DevMailbox } from "../platform/mail/dev-mailbox.ts";
export { RateBook } from "../rates/rate-book.ts";
export { MerchantObject } from "./merchant-object.ts";

export default {
  fetch: (request: Request, env, ctx) => app().fetch(request, env, ctx),
  async scheduled({ scheduledTime }, env) {
    await dispatchJobs(env, scheduledTime);
  },
  // The content of a message shows what it is for. The name of its queue does not, because the operator chooses it.
  async queue({ messages }, env, ctx) {
    const background = (work: Promise<unknown>) => ctx.waitUntil(work);
    // Nothing is served with these settings (app.ts), so nothing is sent either.
    if (!isDevelopment(env) && hasDevelopmentSetting(env)) return;
    const deliveries = messages.filter(({ body }) => !namesJob(body));
    for (const { body } of messages) if (namesJob(body)) await runJobMessage(body, env, background);
    if (deliveries.length === 0) return;
    const known = await withDeploymentOrThrow(env, { nowMs: Date.now(), sleep });
    const work = deliverMessages(deliveries, known, background);
    // In production the platform runs batches concurrently. The development server runs a queue's batches one after the other: waiting for an
    // endpoint that hangs would block all others there (queue_consumer_no_wait_for_wait_until).
    if (isDevelopment(env)) background(work);
    else await work;
  },
} satisfies ExportedHandler<Env>;
