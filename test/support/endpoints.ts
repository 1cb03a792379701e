// Endpoints and their pending deliveries, inserted in the same way as by the product.

import { type EventId, type MerchantId, makeId, newUlid } from "../../src/lib/ids.ts";
import { parseKeyring } from "../../src/lib/keyring.ts";
import { seal } from "../../src/lib/seal.ts";
import { HEALTHY } from "../../src/notifications/webhooks/retry-schedule.ts";
import { secretKeyPreview, webhookSecret } from "../../src/notifications/webhooks/secret.ts";
import { insertWebhook } from "../../src/notifications/webhooks/store.ts";
import { secretContext, type Webhook } from "../../src/notifications/webhooks/webhook.ts";
import { batch, commit } from "../../src/platform/db/batch.ts";
import type { Db } from "../../src/platform/db/client.ts";
import { recordOutbox } from "../../src/platform/events/store.ts";

const freshBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));

interface TestEndpoint {
  readonly webhook: Webhook;
  /** The secret in plain text. */
  readonly secret: string;
}

/** Creates an endpoint for every event, with one secret sealed under `keys` (the form of SECRETS_AES_KEY). */
export async function addEndpoint(
  db: Db,
  keys: string | undefined,
  of: Pick<Webhook, "merchantId" | "url"> & Partial<Webhook>,
): Promise<TestEndpoint> {
  const ring = parseKeyring("SECRETS_AES_KEY", keys);
  if (!ring.ok) throw new Error(ring.error);
  const createdAtMs = of.createdAtMs ?? Date.now();
  const id = of.id ?? makeId("whk", newUlid(createdAtMs, freshBytes(16)));
  const secretId = makeId("whs", newUlid(createdAtMs, freshBytes(16)));
  const secret = webhookSecret(freshBytes(32));
  const sealed = await seal(ring.value, secretContext(secretId), secret);
  const preview = secretKeyPreview(secret);
  const own = { id: secretId, webhookId: id, sealed, preview, expiresAtMs: null, createdAtMs };
  const webhook: Webhook = {
    id,
    events: '["*"]',
    description: null,
    format: "STANDARD",
    isActive: true,
    retryCount: 9,
    timeoutMs: 15_000,
    ...HEALTHY,
    disabledReason: null,
    disabledAtMs: null,
    createdAtMs,
    updatedAtMs: createdAtMs,
    secrets: [own],
    ...of,
  };
  await batch(db, insertWebhook(db, webhook));
  return { webhook, secret };
}

/** Records `count` events in one batch, with their pending deliveries. */
export async function recordNews(
  db: Db,
  merchantId: MerchantId,
  count = 1,
  nowMs: number = Date.now(),
): Promise<readonly EventId[]> {
  const ids = Array.from({ length: count }, () => makeId("evt", newUlid(nowMs, freshBytes(16))));
  const rows = ids.map((id, n) => {
    const data = JSON.stringify({ apiKeyId: "key_1", n });
    return {
      id,
      merchantId,
      type: "api_key.created",
      invoiceId: null,
      sequence: null,
      data,
      createdAtMs: nowMs,
    } as const;
  });
  const [first, ...others] = recordOutbox(db, rows);
  if (first !== undefined) await commit(db, [first, ...others]);
  return ids;
}
