import { openDb } from "./db/client.ts";
import { createApp } from "./http/app.ts";
import { forgetOperations } from "./idempotency/store.ts";
import { invoiceEffects } from "./invoices/effects.ts";
import { expireInvoices } from "./invoices/expire-invoices.ts";

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
    await expireInvoices(invoiceEffects(env, { db, nowMs, sleep }));
    await forgetOperations(db, nowMs);
  },
} satisfies ExportedHandler<Env>;
