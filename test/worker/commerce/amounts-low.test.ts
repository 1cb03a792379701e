import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { candidateTexts } from "../../../src/commerce/invoices/direct-amount.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { amountReservations } from "../../../src/platform/db/schema/invoices.ts";
import { testDb } from "../../support/worker-merchant.ts";
import {
  type Body,
  freshEvmAddress,
  freshShop,
  held,
  occupy,
  register,
  renewed,
  SATOSHI,
  type Shop,
  statusesOf,
  TINY,
  USDC,
} from "./amounts-harness.ts";

async function lowWarnings({ merchantId }: Shop): Promise<Body[]> {
  const rows = await testDb
    .select({ type: events.type, data: events.data })
    .from(events)
    .where(eq(events.merchantId, merchantId));
  return rows.filter(({ type }) => type === "wallet.amounts_low").map(({ data }) => JSON.parse(data));
}

describe("wallet.amounts_low", () => {
  const taken = (count: number) => candidateTexts(TINY.priceUnits, SATOSHI, { from: 0, to: count });

  it("is sent once, at the ninth of eleven amounts of one price, one by one or at once", async () => {
    for (const isAtOnce of [false, true]) {
      const shop = await freshShop();
      const { address, id } = await register(shop, USDC, freshEvmAddress());
      for (let count = 1; count <= TINY.capacity; count++) {
        if (isAtOnce) await Promise.all([1, 2, 3].map(() => shop.create(TINY.rawAmount, USDC)));
        else await shop.create(TINY.rawAmount, USDC);
        const mark = (await held(address)).length >= 9 ? [{ walletId: id, ...USDC, address, amount: "0.002000" }] : [];
        expect(
          (await lowWarnings(shop)).map(({ amount, ...rest }) => ({ ...rest, amount: `${amount}`.padEnd(8, "0") })),
        ).toEqual(mark);
      }
    }
  });

  it("counts amounts, not salts: the last salt alone sends none, filling a gap may", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, USDC, freshEvmAddress());
    await occupy({ ...USDC, address }, taken(10));
    expect(statusesOf(await shop.create(TINY.rawAmount, USDC))).toEqual([201, "ACTIVE"]);
    expect(await lowWarnings(shop)).toEqual([]);
    await testDb
      .update(amountReservations)
      .set({ priceUnits: TINY.priceUnits, salt: sql`2000 - cast(units as integer)` })
      .where(eq(amountReservations.address, address));
    await testDb
      .delete(amountReservations)
      .where(
        sql`${amountReservations.address} = ${address} and ${amountReservations.units} in ('2000', '1996', '1993')`,
      );
    await shop.create(TINY.rawAmount, USDC);
    expect((await held(address)).map(({ salt }) => salt).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 5, 6, 8, 9, 10]);
    expect(await lowWarnings(shop)).toHaveLength(1);
  });

  it("is also sent by a renewed quote", async () => {
    const shop = await freshShop();
    await register(shop, USDC, freshEvmAddress());
    const { json: first } = await shop.create(0.0024, USDC);
    for (let i = 0; i < 8; i++) await shop.create(TINY.rawAmount, USDC);
    expect(await lowWarnings(shop)).toEqual([]);
    shop.usd.USDC = "1.2";
    expect((await renewed(shop, first.id)).paymentMethods[0].status).toBe("ACTIVE");
    expect(await lowWarnings(shop)).toHaveLength(1);
  });
});
