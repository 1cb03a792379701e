// The world of endpoints: the database whose batches wake those that they have news for, and what the operations take.
import type { GivenEffects } from "../auth/middleware.ts";
import { tellRooms } from "../checkout-rooms/effects.ts";
import { type Db, openDb } from "../db/client.ts";
import { isDevelopment, publicUrl } from "../http/deployment.ts";
import { newOperationId } from "../idempotency/middleware.ts";
import { parseKeyring } from "../lib/keyring.ts";
import { piecesOf } from "../lib/pieces.ts";
import { seal } from "../lib/seal.ts";
import type { WebhookEffects } from "./change-webhook.ts";
import type { EndpointRules } from "./endpoint-url.ts";

/** What a message of the queue says: this endpoint has something due. */
export interface Wake {
  readonly webhookId: string;
}

/** The platform's bound of one call. */
const MESSAGES_A_CALL = 100;

/** What is not sent to endpoints is found by the cron, what is not told to open pages by their own next look. */
export function openWakingDb(
  env: Pick<Env, "DB" | "WEBHOOK_QUEUE" | "CHECKOUT_ROOM">,
  background: (work: Promise<unknown>) => void,
): Db {
  return openDb(env.DB, {
    wake: (webhookIds) => background(wakeEndpoints(env, webhookIds)),
    tell: (invoices) => background(tellRooms(env, invoices)),
  });
}

/** One message for each. */
export async function wakeEndpoints(
  { WEBHOOK_QUEUE }: Pick<Env, "WEBHOOK_QUEUE">,
  webhookIds: readonly string[],
  delaySeconds = 0,
): Promise<void> {
  for (const piece of piecesOf(webhookIds, MESSAGES_A_CALL)) {
    await WEBHOOK_QUEUE.sendBatch(
      piece.map((webhookId) => ({ body: { webhookId } satisfies Wake })),
      { delaySeconds },
    );
  }
}

/** The world as the operations of endpoints take it, built once per request. */
export function webhookEffects(env: Env, { db, nowMs, sleep }: GivenEffects): WebhookEffects {
  return {
    db,
    nowMs,
    sleep,
    newOperationId,
    urlRules: endpointRules(env),
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    seal: async (context, text) => {
      const keys = parseKeyring("SECRETS_AES_KEY", env.SECRETS_AES_KEY);
      if (!keys.ok) throw new Error(keys.error);
      return seal(keys.value, context, text);
    },
  };
}

/** Where endpoints of this deployment may be: asked at registration and before every attempt. */
export function endpointRules(env: Pick<Env, "ENVIRONMENT" | "WEBHOOK_LOOPBACK" | "PUBLIC_URL">): EndpointRules {
  const own = publicUrl(env);
  return {
    isLoopbackOpen: isDevelopment(env) && env.WEBHOOK_LOOPBACK === "on",
    ownHost: URL.canParse(own) ? new URL(own).host : undefined,
  };
}
