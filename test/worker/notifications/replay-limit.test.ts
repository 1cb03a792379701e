// How often a merchant may request replays, each of which makes the shared database write up to 10,000 rows.
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { freshMerchant, type TestMerchant } from "../../support/worker-merchant.ts";

const range = () => ({
  from: new Date(Date.now() - 3_600_000).toISOString(),
  to: new Date(Date.now() + 60_000).toISOString(),
});

async function endpointOf(shop: TestMerchant): Promise<string> {
  const made = await shop.post("/webhooks", { url: "https://slow.example.com/hook", events: ["*"] });
  expect(made.status, made.text).toBe(201);
  return String(made.body.id);
}
const replay = (shop: TestMerchant, id: string) => shop.post(`/webhooks/${id}/replay`, range());

describe("a merchant's replays", () => {
  it("are refused past the hourly limit, for any endpoint; other merchants are not affected", async () => {
    const [flood, other] = [await freshMerchant(), await freshMerchant()];
    const endpoints = [await endpointOf(flood), await endpointOf(flood)];
    const statuses: number[] = [];
    for (let n = 0; n < LIMITS.replaysPerMerchantAndHour; n++)
      statuses.push((await replay(flood, endpoints[n % 2] ?? "")).status);
    expect(new Set(statuses)).toEqual(new Set([202]));
    for (const id of endpoints) {
      const refused = await replay(flood, id);
      expect(refused.status).toBe(429);
      expect(refused.body).toMatchObject({ statusCode: 429, code: "RATE_LIMITED" });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_000);
    }
    expect((await replay(other, await endpointOf(other))).status).toBe(202);
  });

  it("with a wrong endpoint or range are not counted", async () => {
    const shop = await freshMerchant();
    const id = await endpointOf(shop);
    for (let n = 0; n < LIMITS.replaysPerMerchantAndHour; n++) {
      expect((await replay(shop, "whk_00000000000000000000000000")).status).toBe(404);
      expect((await shop.post(`/webhooks/${id}/replay`, {})).status).toBe(400);
    }
    expect((await replay(shop, id)).status).toBe(202);
  });
});
