// The rows that D1 reads for one invoice must not grow with the number of other invoices, including open ones: each row read is billed, and delays
// all other calls.
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { countingDatabase, noCounts } from "../../../bench/counted-database.ts";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { type Ask, seedKey, seedMerchant, sendWith } from "../../support/access.ts";
import { copyInvoice } from "../../support/copy-invoice.ts";
import { seedCursor } from "../../support/payments.ts";
import { directWallet, USDT } from "../../support/wallet-bodies.ts";
import { MUTED } from "../../support/webhooks.ts";

const MANY = 3_000;
/** Far below MANY: this allows one more level of an index, but not a row for each other invoice. */
const SLACK = 60;

it("a request about one invoice reads no more D1 rows if its merchant and network have 3,000 other open invoices", async () => {
  const merchantId = await seedMerchant();
  const key = await seedKey(merchantId, { lastUsedAtMs: Date.now() });
  const counts = noCounts();
  const DB = countingDatabase(env.DB, counts);
  const send = async (path: string, ask: Ask = {}) => {
    const answer = await sendWith({ ...MUTED, DB }, path, { key, ...ask });
    expect(answer.status, `${path}: ${answer.text.slice(0, 500)}`).toBeLessThan(300);
    return answer;
  };
  const root = `/api/v1/merchants/merchant/${merchantId}`;
  await send(`${root}/wallets`, { method: "POST", body: directWallet() });
  const create = async () => {
    const body = { name: "Order", rawAmount: 25, currency: "USD", paymentMethods: [USDT] };
    const headers = { "idempotency-key": crypto.randomUUID() };
    const { json } = await send(`${root}/invoices`, { method: "POST", body, headers });
    return String(json?.id) as InvoiceId;
  };
  const costs = async () => {
    const read: Record<string, number> = {};
    const count = async (what: string, work: () => Promise<unknown>) => {
      const before = counts.rowsRead;
      await work();
      read[what] = counts.rowsRead - before;
    };
    const id = await create();
    await count("create", create);
    await count("read", () => send(`${root}/invoices/${id}`));
    await count("page", () => send(`/pay/${id}`));
    await count("state of the page", () => send(`/pay/${id}/state`));
    await count("newest payments", () => send(`${root}/payments?limit=20`));
    await count("change", () => send(`${root}/invoices/${id}`, { method: "PATCH", body: { description: "Gift" } }));
    await count("cancel", () => send(`${root}/invoices/${id}/cancel`, { method: "POST", body: {} }));
    return { id, read };
  };
  // The network is watched, so an invoice is read together with the network's progress.
  await seedCursor("ETH");
  const first = await create();
  const alone = await costs();
  await copyInvoice(first, MANY);
  const among = await costs();
  const grown = Object.entries(among.read).filter(([what, rows]) => rows > (alone.read[what] ?? 0) + SLACK);
  expect({ grown, alone: alone.read, among: among.read }).toMatchObject({ grown: [] });
});
