// The database whose batches wake the endpoints that they have news for.
import { type Db, openDb } from "../db/client.ts";
import { piecesOf } from "../lib/pieces.ts";

/** What a message of the queue says: this endpoint has something due. */
export interface Wake {
  readonly webhookId: string;
}

/** The platform's bound of one call. */
const MESSAGES_A_CALL = 100;

/** What is not sent is found by the cron. */
export function openWakingDb(env: Pick<Env, "DB" | "WEBHOOK_QUEUE">, background: (work: Promise<unknown>) => void): Db {
  return openDb(env.DB, (webhookIds) => background(wakeEndpoints(env, webhookIds)));
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
