// A database that accepts no more writes, like D1 at its limit: triggers refuse every row with D1's own message.
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { freshMerchant } from "../../support/worker-merchant.ts";
import { freshKey, xpubBody } from "../commerce/wallets-harness.ts";

async function tablesOf(): Promise<readonly string[]> {
  const { results } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'd1_%'",
  ).all<{ name: string }>();
  return results.map(({ name }) => name);
}

async function whileFull(work: () => Promise<void>): Promise<void> {
  const names: string[] = [];
  for (const table of await tablesOf()) {
    for (const act of ["INSERT", "UPDATE"]) {
      const name = `full_${table}_${act}`;
      await env.DB.prepare(
        `CREATE TRIGGER ${name} BEFORE ${act} ON ${table} BEGIN SELECT RAISE(ABORT, 'Exceeded maximum DB size'); END`,
      ).run();
      names.push(name);
    }
  }
  try {
    await work();
  } finally {
    for (const name of names) await env.DB.prepare(`DROP TRIGGER ${name}`).run();
  }
}

describe("a full database", () => {
  it("refuses new invoices with a time to retry, answers reads, and accepts the refused request once there is space", async () => {
    const shop = await freshMerchant();
    expect((await shop.post("/wallets", xpubBody(freshKey()))).status).toBe(201);
    const order = { name: "Order", rawAmount: 10 };
    const before = await shop.post("/invoices", order);
    expect(before.status).toBe(201);
    const key = { "idempotency-key": crypto.randomUUID() };
    await whileFull(async () => {
      for (const headers of [{}, key, key]) {
        const refused = await shop.post("/invoices", order, headers);
        expect([refused.status, refused.body.code]).toEqual([503, "STORAGE_UNAVAILABLE"]);
        expect(refused.headers.get("retry-after")).toBe("1");
      }
      expect((await shop.get(`/invoices/${before.body.id}`)).status).toBe(200);
      expect((await shop.get("/invoices")).body.data).toHaveLength(1);
    });
    const after = await shop.post("/invoices", order, key);
    const again = await shop.post("/invoices", order, key);
    expect([after.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(after.body);
    expect((await shop.get("/invoices")).body.data).toHaveLength(2);
  });
});
