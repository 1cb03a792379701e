// Connected members are notified of an endpoint that starts to fail.
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { deliverTo } from "../../../src/notifications/deliveries/deliver-webhooks.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { recordNews } from "../../support/endpoints.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { endpoint, useRealClock, worker } from "./deliveries-harness.ts";

useRealClock();

describe("an endpoint that fails", () => {
  it("is announced to connected members once, at its third failure in a row", async () => {
    const told: string[] = [];
    const db = openDb(env.DB, { tell: (ids) => void told.push(...ids) });
    const { merchantId, id } = await endpoint("status/500", { failuresInRow: 1, failingSinceMs: Date.now() });
    const news = `${merchantId} ${id}`;
    for (const wanted of [[], [news], [news]]) {
      await recordNews(testDb, merchantId);
      await deliverTo(worker({ db }).deps, id);
      expect(told).toEqual(wanted);
    }
  });
});
