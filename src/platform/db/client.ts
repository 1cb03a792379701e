// The database whose batches pass their news on: endpoints with something due are woken, open pages of customers are notified. This only makes
// both faster: the cron finds what is due, and pages poll by themselves.
import { drizzle } from "drizzle-orm/d1";
import { chunksOf } from "../../lib/chunks.ts";
import type { Listeners } from "./news.ts";

export type Db = ReturnType<typeof openDb>;

/** The database; `batch` (batch.ts) passes the news of what it commits to the listeners. */
export function openDb(d1: D1Database, listeners: Listeners = {}) {
  return Object.assign(drizzle(d1), { listeners });
}

/** A message of the queue: this endpoint has something due. */
export interface Wake {
  readonly webhookId: string;
}

/** The platform's limit for one call. */
const MESSAGES_A_CALL = 100;

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
  for (const chunk of chunksOf(webhookIds, MESSAGES_A_CALL)) {
    await WEBHOOK_QUEUE.sendBatch(
      chunk.map((webhookId) => ({ body: { webhookId } satisfies Wake })),
      { delaySeconds },
    );
  }
}

/** `invoices`: each as `<merchantId> <invoiceId>`. Rejects where a room did not answer; its pages ask again by themselves. */
export async function tellRooms(
  { CHECKOUT_ROOM }: Pick<Env, "CHECKOUT_ROOM">,
  invoices: readonly string[],
): Promise<void> {
  const byMerchant = Map.groupBy(
    invoices.map((invoice) => invoice.split(" ")),
    ([merchantId]) => merchantId ?? "",
  );
  await Promise.all(
    [...byMerchant].map(async ([merchantId, pages]) => {
      const room: { tell(invoiceIds: readonly string[]): Promise<void> } = CHECKOUT_ROOM.getByName(merchantId);
      await room.tell(pages.flatMap(([, invoiceId = ""]) => invoiceId));
    }),
  );
}
