// A network whose sources fail is not offered to payers (decisions 4 "Networks that lag").
import { describe, expect, it } from "vitest";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { freshMerchant, testDb } from "../../support/worker-merchant.ts";

const MINUTE_MS = 60_000;
const PAIR = { cryptocurrency: "USDC", network: "ETH_SEPOLIA" };
const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

async function seenSince(degradedSinceMs: number | null, isResting = false): Promise<void> {
  const row = { sinceMs: 0, checkpoints: "[]", passedMs: 0, lastMovedAtMs: 0, degradedSinceMs, isResting };
  await testDb
    .insert(networkCursors)
    .values({ network: PAIR.network, ...row })
    .onConflictDoUpdate({ target: networkCursors.network, set: row });
}

describe("a network whose sources fail", () => {
  it("is hidden and refused after five minutes, and offered again once its sources are back", async () => {
    const merchant = await freshMerchant();
    await merchant.post("/wallets", { walletType: "DIRECT_WALLET", ...PAIR, address: ADDRESS });
    await merchant.post("/wallets", { walletType: "DIRECT_WALLET", ...PAIR, cryptocurrency: "EURC", address: ADDRESS });
    const { body } = await merchant.post("/invoices", { name: "Order", rawAmount: 10 });
    expect(body.paymentMethods).toEqual([]);
    const path = `/invoices/${body.id}/payment-methods`;
    const offered = async () =>
      (await merchant.get(path)).body.data.map((each: { status: string; reason: string | null }) => [
        each.status,
        each.reason,
      ]);
    await seenSince(Date.now() - 6 * MINUTE_MS);
    const hidden = ["UNAVAILABLE", "NETWORK_NOT_WATCHED"];
    expect(await offered()).toEqual([hidden, hidden]);
    const refused = await merchant.post(path, PAIR);
    expect([refused.status, refused.body.code]).toEqual([503, "NETWORK_NOT_WATCHED"]);
    const shown = ["AVAILABLE", null];
    await seenSince(Date.now() - 4 * MINUTE_MS);
    expect(await offered()).toEqual([shown, shown]);
    await seenSince(Date.now() - 6 * MINUTE_MS, true);
    expect(await offered()).toEqual([shown, shown]);
    await seenSince(null);
    expect((await merchant.post(path, PAIR)).status).toBe(201);
  });
});
