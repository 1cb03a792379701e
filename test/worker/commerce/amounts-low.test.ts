import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { candidateUnits } from "../../../src/commerce/amounts/direct-amount.ts";
import { UNPROVEN } from "../../../src/commerce/ranks/rank.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/time.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { amountsAt, freeAmounts, occupy } from "../../support/amounts.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import {
  type Body,
  freshEvmAddress,
  freshShop,
  held,
  register,
  renewed,
  SATOSHI,
  type Shop,
  statusesOf,
  TINY,
  USDC,
} from "./amounts-harness.ts";

const lasting = (nowMs: number) => ({
  createdAtMs: nowMs,
  expiresAtMs: nowMs + HOUR_MS,
  monitorUntilMs: nowMs + DAY_MS,
  nowMs,
});

async function lowWarnings({ merchantId }: Shop): Promise<Body[]> {
  const rows = await testDb
    .select({ type: events.type, data: events.data })
    .from(events)
    .where(eq(events.merchantId, merchantId));
  return rows.filter(({ type }) => type === "wallet.amounts_low").map(({ data }) => JSON.parse(data));
}

describe("wallet.amounts_low", () => {
  it("is sent once, when nine of a price's eleven amounts are in use, whether they were taken one by one or at once", async () => {
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

  it("depends on how many amounts are in use, not on which: using only the last one does not send it, but filling a gap can", async () => {
    const candidates = candidateUnits(TINY.priceUnits, SATOSHI, { from: 0, to: TINY.capacity });
    const [alone, gappy] = [await freshShop(), await freshShop()];
    const lastPlace = await register(alone, USDC, freshEvmAddress());
    await occupy({ ...USDC, address: lastPlace.address }, candidates.slice(0, -1));
    const last = await alone.create(TINY.rawAmount, USDC);
    expect([statusesOf(last), last.json.paymentMethods[0].amount]).toEqual([[201, "ACTIVE"], "0.00199"]);
    expect(await lowWarnings(alone)).toEqual([]);
    const { address } = await register(gappy, USDC, freshEvmAddress());
    const place = { ...USDC, address };
    for (let n = 0; n < TINY.capacity; n++) await gappy.create(TINY.rawAmount, USDC);
    expect(await lowWarnings(gappy)).toHaveLength(1);
    await freeAmounts(place, ["2000", "1996", "1993"]);
    const filled = await gappy.create(TINY.rawAmount, USDC);
    expect(filled.json.paymentMethods[0].amount).toBe("0.002");
    expect(await lowWarnings(gappy)).toHaveLength(2);
  });

  it("is sent once, by the next invoice, if the invoice that reached the threshold was never stored", async () => {
    const shop = await freshShop();
    const { address } = await register(shop, USDC, freshEvmAddress());
    for (let n = 0; n < 8; n++) await shop.create(TINY.rawAmount, USDC);
    const [lost, place] = [freshId("inv"), { ...USDC, address }];
    const [times, sharing] = [lasting(Date.now()), { rank: UNPROVEN, hasOthers: false, provenOthers: 0 }];
    const { merchantId } = shop;
    const asked = { invoiceId: lost, merchantId, priceUnits: TINY.priceUnits, sharing, isPublic: false, ...times };
    expect(await amountsAt(place).allocate([asked])).toMatchObject([{ lowSince: lost }]);
    expect(await lowWarnings(shop)).toEqual([]);
    for (let n = 0; n < 2; n++) {
      await shop.create(TINY.rawAmount, USDC);
      expect(await lowWarnings(shop)).toMatchObject([{ ...place, amount: "0.002" }]);
    }
  });

  it("is also sent when a quote is renewed", async () => {
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
