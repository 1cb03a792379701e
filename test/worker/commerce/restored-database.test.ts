// A database that is put back to an earlier copy has lost invoices whose payers know an address or an amount. The allocators are not put back with it.
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { inTens } from "../../support/public-shop.ts";
import { expectStatus } from "../../support/shared-place.ts";
import { BTC, directWallet, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import { freshMerchant, type TestMerchant } from "../../support/worker-merchant.ts";

type Row = Record<string, string | number | null>;

const rowsOf = async (sql: string) => (await env.DB.prepare(sql).all<Row>()).results;

/** All tables as they are now, to be put back. */
async function copyDatabase(): Promise<() => Promise<void>> {
  const tables = await rowsOf(
    "select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\' and name not like 'sqlite%'",
  );
  const copies = new Map<string, readonly Row[]>();
  for (const { name } of tables) copies.set(String(name), await rowsOf(`select * from ${name}`));
  return async () => {
    // The rows are what the triggers made of them, so they are put back without.
    const triggers = await rowsOf("select name, sql from sqlite_master where type = 'trigger'");
    for (const { name } of triggers) await env.DB.prepare(`drop trigger ${name}`).run();
    for (const [name, rows] of copies) {
      const inserts = rows.map((row) => {
        const columns = Object.keys(row);
        const into = `insert into ${name} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`;
        return env.DB.prepare(into).bind(...Object.values(row));
      });
      await env.DB.batch([env.DB.prepare(`delete from ${name}`), ...inserts]);
    }
    for (const { sql } of triggers) await env.DB.prepare(String(sql)).run();
  };
}

/** What the payer of a new invoice is shown: an address of its own, and an amount at the shared one. */
async function shown(shop: TestMerchant): Promise<{ readonly own: string; readonly amount: string }> {
  const body = { name: "Order", rawAmount: 10, paymentMethods: [USDT, BTC] };
  const { paymentMethods } = await expectStatus(shop.post("/invoices", body), 201);
  const [direct, own] = [USDT, BTC].map((pair) =>
    paymentMethods.find((each: { network: string }) => each.network === pair.network),
  );
  expect([direct.status, own.status]).toEqual(["ACTIVE", "ACTIVE"]);
  return { own: own.address, amount: direct.amount };
}

it("a hundred new invoices on both kinds of wallet take no address and no amount that a lost invoice had", async () => {
  const shop = await freshMerchant();
  await expectStatus(shop.post("/wallets", directWallet()), 201);
  await expectStatus(shop.post("/wallets", xpubWallet()), 201);
  const before = await inTens(10, () => shown(shop));
  const putBack = await copyDatabase();
  const lost = await inTens(40, () => shown(shop));
  await putBack();
  const { data } = await expectStatus(shop.get("/invoices?limit=100"), 200);
  expect(data).toHaveLength(before.length);
  const after = await inTens(100, () => shown(shop));
  const all = [...before, ...lost, ...after];
  expect(new Set(all.map(({ own }) => own)).size).toBe(all.length);
  expect(new Set(all.map(({ amount }) => amount)).size).toBe(all.length);
});
