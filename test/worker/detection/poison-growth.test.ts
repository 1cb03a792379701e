// An unreadable payment row next to a balance's growth: transfers found at the same address and block are UNMATCHED, everything else is credited,
// and the row is logged.
import { sql } from "drizzle-orm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { growthIdentity, type Transfer } from "../../../src/chains/sources/transfer.ts";
import { ETH, ethAddress, marketShop } from "../../support/market-shop.ts";
import { unitsOf } from "../../support/shared-place.ts";
import { testDb } from "../../support/worker-merchant.ts";

afterEach(() => vi.restoreAllMocks());

/** The transfer, read as growth of a balance that no transaction explains. */
const asGrowth = (transfer: Transfer): Transfer => ({
  ...transfer,
  ...growthIdentity({ height: 100, toAddress: transfer.toAddress, units: transfer.amountUnits }),
  growth: { explainedBy: [] },
});
const asNative = (transfer: Transfer): Transfer => ({ ...transfer, outputIndex: "native" });

/** Two merchants' shops: the first has a stored payment that `poison` damages; the second is to be paid in the same read. */
async function shops(stored: (transfer: Transfer) => Transfer, poison: string) {
  const [bad, good] = [await marketShop(ETH, ethAddress()), await marketShop(ETH, ethAddress())];
  const [invoice, other] = [await bad.invoice(300), await good.invoice(100)];
  const known = stored(bad.transfer(invoice.address, unitsOf(invoice.amount, 18)));
  await bad.look([known]);
  const damaged = sql.raw(`update payments set ${poison} where to_address = '${invoice.address}'`);
  await testDb.run(damaged);
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const paid = good.transfer(other.address, unitsOf(other.amount, 18));
  const [row] = await testDb.all<{ id: string }>(
    sql`select id from payments where to_address = ${invoice.address} limit 1`,
  );
  // A log line names a payment by its transaction, but growth by the id of its row, because growth has no transaction.
  const named = known.outputIndex === "native" ? known.txHash : (row?.id ?? "none");
  const alerts = () => log.mock.calls.map(([line]) => String(line)).filter((line) => line.includes(named));
  const otherStatus = async () => (await good.invoiceState(other.id)).status;
  return { bad, invoice, paid, alerts, otherStatus };
}

const POISONS = ["amount_units = 'ten'", "usd_micros = 'ten'", "evidence = '{'", `evidence = '{"explainedBy":5}'`];

describe.each(POISONS)("growth stored with unreadable data (%s)", (poison) => {
  it("does not prevent other credits, and transactions that might explain it stay UNMATCHED", async () => {
    const { bad, invoice, paid, alerts, otherStatus } = await shops(asGrowth, poison);
    const explains = asNative(bad.transfer(invoice.address, unitsOf(invoice.amount, 18)));
    expect(await bad.look([explains, asGrowth(paid)])).toMatchObject({ ok: true });
    expect(await otherStatus()).toBe("PAID");
    expect(await bad.payment(explains)).toMatchObject({ status: "UNMATCHED", invoiceId: null });
    expect(alerts()).not.toEqual([]);
    // Reading the same transfers again adds nothing.
    expect(await bad.look([explains, asGrowth(paid)])).toEqual({ ok: true, value: { invoices: [] } });
  });

  it("does not delay other payments when a transaction moves to its block", async () => {
    const { bad, invoice, paid, otherStatus } = await shops(asGrowth, poison);
    const explains = asNative(bad.transfer(invoice.address, 7n * 10n ** 17n));
    const before = { height: 99, hash: "before", timeMs: explains.block?.timeMs ?? 0 };
    expect(await bad.look([{ ...explains, block: before }])).toMatchObject({ ok: true });
    expect(await bad.look([explains, asGrowth(paid)])).toMatchObject({ ok: true });
    expect(await otherStatus()).toBe("PAID");
    expect(await bad.payment(explains)).toMatchObject({ blockHash: explains.block?.hash });
  });
});

it("a stored transaction with an unreadable amount does not prevent other credits, and growth in its block stays UNMATCHED", async () => {
  const { bad, invoice, paid, alerts, otherStatus } = await shops(asNative, "amount_units = 'ten'");
  const grown = asGrowth(bad.transfer(invoice.address, 7n * 10n ** 17n));
  expect(await bad.look([grown, asGrowth(paid)])).toMatchObject({ ok: true });
  expect(await otherStatus()).toBe("PAID");
  const rows = await testDb.all(
    sql`select status, invoice_id from payments where to_address = ${invoice.address} and output_index = ${grown.outputIndex}`,
  );
  expect(rows).toEqual([{ status: "UNMATCHED", invoice_id: null }]);
  expect(alerts()).not.toEqual([]);
});
