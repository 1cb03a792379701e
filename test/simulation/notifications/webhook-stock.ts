// Shops and their endpoints, for every schedule of the lab.
import { makeId } from "../../../src/lib/ids.ts";
import { HEALTHY } from "../../../src/notifications/webhooks/retry-schedule.ts";
import { insertWebhook } from "../../../src/notifications/webhooks/store.ts";
import type { Webhook } from "../../../src/notifications/webhooks/webhook.ts";
import { batch } from "../../../src/platform/db/batch.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import type { Lab } from "../engine/lab.ts";

export const SHOPS = ["mer_00000000000000000000000001", "mer_00000000000000000000000002"] as const;

/** The first shop has two endpoints, so that one is notified when the other is disabled. */
export const HOOKS: readonly [Hook, ...Hook[]] = [
  { id: "whk_00000000000000000000000001", merchantId: SHOPS[0] },
  { id: "whk_00000000000000000000000002", merchantId: SHOPS[0] },
  { id: "whk_00000000000000000000000003", merchantId: SHOPS[1] },
];

type Hook = Pick<Webhook, "id" | "merchantId">;

const START_MS = 1_799_999_000_000;

/** Stores shops, endpoints and the log of deliveries before the first schedule of the lab. */
export async function stockHooks(lab: Lab): Promise<void> {
  const db = lab.db(async (_, work) => work());
  const times = { createdAtMs: START_MS, updatedAtMs: START_MS };
  for (const id of SHOPS) await db.insert(merchants).values({ id, name: "Shop", ...times });
  for (const { id, merchantId } of HOOKS) {
    const secret = { id: makeId("whs", id.slice(4)), webhookId: id, sealed: "sealed", preview: "", expiresAtMs: null };
    await batch(
      db,
      insertWebhook(db, {
        id,
        merchantId,
        url: `https://hooks.example.com/${id}`,
        events: '["*"]',
        description: null,
        format: "STANDARD",
        isActive: true,
        retryCount: 9,
        timeoutMs: 1_000,
        ...HEALTHY,
        disabledReason: null,
        disabledAtMs: null,
        ...times,
        secrets: [{ ...secret, createdAtMs: START_MS }],
      }),
    );
  }
  lab.rows("create table became (n integer primary key, delivery_id text, status text)");
  lab.rows(`create trigger became_so after update of status on deliveries
    begin insert into became (delivery_id, status) values (new.id, new.status); end`);
}
