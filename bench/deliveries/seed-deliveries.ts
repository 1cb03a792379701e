// Creates events and their due deliveries with SQL, because a thousand changes over HTTP would take longer than their deliveries.
import type { BenchDatabase } from "../serve.ts";
import { CREATED_AT_MS, DATA, SEQUENCE, TYPE } from "./bare-post.ts";

const NUMBERS = "WITH RECURSIVE numbers(n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?2)";
const EVENT_ID = "'evt_01' || printf('%024d', n)";
/** The same id as the fan-out creates (src/platform/events/store.ts). */
const DELIVERY_ID = `'dlv_' || substr(${EVENT_ID}, 5, 12) || substr(${EVENT_ID}, -8) || substr(hook.value, -6)`;

interface SeedOf {
  readonly merchantId: string;
  readonly webhookIds: readonly string[];
  /** Ids as `eventIdAt` creates them. */
  readonly from: number;
  readonly count: number;
}

/** Each event is due at each endpoint immediately. No worker is woken. */
export async function seedDeliveries(database: BenchDatabase, of: SeedOf): Promise<void> {
  const { merchantId, webhookIds, from, count } = of;
  const hooks = JSON.stringify(webhookIds);
  await database.batch([
    database
      .prepare(
        `INSERT INTO events (id, merchant_id, type, invoice_id, sequence, data, created_at_ms)
         ${NUMBERS} SELECT ${EVENT_ID}, ?3, ?4, NULL, ?5, ?6, ?7 FROM numbers`,
      )
      .bind(from, from + count, merchantId, TYPE, SEQUENCE, DATA, CREATED_AT_MS),
    database
      .prepare(
        `INSERT INTO deliveries (id, merchant_id, webhook_id, event_id, event_type, status, attempts, step, next_attempt_ms, wakes, created_at_ms,
           updated_at_ms)
         ${NUMBERS} SELECT ${DELIVERY_ID}, ?3, hook.value, ${EVENT_ID}, ?4, 'PENDING', 0, 0, ?5, 0, ?5, ?5
         FROM numbers CROSS JOIN json_each(?6) hook`,
      )
      .bind(from, from + count, merchantId, TYPE, Date.now(), hooks),
  ]);
}
