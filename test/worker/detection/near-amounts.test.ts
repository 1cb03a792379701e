// All invoices that were open at the time of a transfer must be considered for it, however many sales at its address have ended.
import { eq } from "drizzle-orm";
import { expect, it } from "vitest";
import type { InvoiceId } from "../../../src/lib/ids.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { methodAmounts } from "../../../src/platform/db/schema/method-amounts.ts";
import { randomHex } from "../../support/wallet-bodies.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { invoiceOf, look, rowsOf, shopAt, transferTo } from "./transfers-harness.ts";

it.each([
  ["among few ended sales", 3],
  ["among hundreds of ended sales of about the same amount", 220],
])("a transfer that could be meant for two open invoices is UNMATCHED, %s", async (_, over) => {
  const { merchant, address } = await shopAt();
  const id = (await invoiceOf(merchant, 100)).id as InvoiceId;
  await invoiceOf(merchant, 100.5);
  const [row] = await testDb.select().from(methodAmounts).where(eq(methodAmounts.invoiceId, id));
  const [invoice] = await testDb.select().from(invoices).where(eq(invoices.id, id));
  const [method] = await testDb.select().from(paymentMethods).where(eq(paymentMethods.invoiceId, id));
  if (row === undefined || invoice === undefined || method === undefined) throw new Error("no order");
  // Sales of the same day that have ended. Their amounts are still monitored, and closer to the transfer than the second invoice's amount.
  for (let n = 0; n < over; n++) {
    const endedId = `inv_${randomHex(13).toUpperCase()}` as const;
    const ended = { status: "PAID", expiresAtMs: Date.now() - 60_000, externalId: null } as const;
    await testDb.insert(invoices).values({ ...invoice, ...ended, id: endedId });
    await testDb.insert(paymentMethods).values({ ...method, invoiceId: endedId });
    await testDb.insert(methodAmounts).values({ ...row, invoiceId: endedId, units: 100_420_000n + BigInt(n) });
  }
  const transfer = transferTo(address, 100_200_000n);
  expect((await look([transfer])).ok).toBe(true);
  expect(await rowsOf(transfer.txHash)).toMatchObject([{ status: "UNMATCHED", invoiceId: null }]);
});
