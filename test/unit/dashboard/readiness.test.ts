// The console's short answer to whether a shop can be paid, based on the service's report about each coin.
import { describe, expect, it } from "vitest";
import { type Coin, type Finding, groupsOf, verdictOf } from "../../../dashboard/src/readiness/coins.ts";
import { readinessSearch } from "../../../dashboard/src/readiness/search.ts";

const finding = (code: Finding["code"]): Finding => {
  return { code, detail: code, since: null, until: null, secondsBehind: null, blocksBehind: null };
};
const coin = (network: string, changes: Partial<Coin> = {}): Coin => {
  const known = { network, cryptocurrency: network, isTest: false, walletId: `wal_${network}`, canBePaid: true };
  return { ...known, reasons: [], warnings: [], reading: null, ...changes };
};
const without = (network: string, ...codes: readonly Finding["code"][]) =>
  coin(network, { walletId: null, canBePaid: false, reasons: codes.map(finding) });
const sepolia = coin("ETH_SEPOLIA", { isTest: true });
/** A development server offers this coin although it cannot detect its payments. */
const undetected = coin("BNB", { warnings: [finding("NO_SOURCE")] });
const broken = coin("ETH", { canBePaid: false, reasons: [finding("PAUSED")] });

describe("the verdict", () => {
  it.each<readonly [string, readonly Coin[]]>([
    ["Yes", [coin("BTC"), coin("LTC"), without("TRX", "NO_WALLET")]],
    ["Partly", [coin("BTC"), broken]],
    ["No", [broken]],
    ["No", [without("TRX", "NO_WALLET")]],
    ["No", [broken, sepolia]],
    ["No", [{ ...sepolia, canBePaid: false }]],
    ["Test coins", [sepolia, without("TRX", "NO_WALLET")]],
    ["Yes", [coin("BTC"), { ...sepolia, canBePaid: false }]],
    ["No", [undetected]],
    ["Partly", [coin("BTC"), undetected]],
    ["Yes", [coin("LTC", { warnings: [finding("NOT_YET_READ")] })]],
  ])("is %s in case %#", (short, coins) => {
    expect(verdictOf({ coins }).short).toBe(short);
  });

  it("counts only the coins with a wallet", () => {
    const { text } = verdictOf({ coins: [coin("BTC"), broken, without("TRX", "NO_WALLET")] });
    expect(text).toContain("1 of your 2 coins");
  });

  it("counts test coins separately", () => {
    const textOf = (...coins: readonly Coin[]) => verdictOf({ coins }).text;
    expect(textOf(sepolia)).toBe("Customers can pay only with test coins.");
    expect(textOf(broken, sepolia)).toBe("No: customers can pay only with test coins.");
    expect(textOf(coin("BTC"), sepolia)).toBe("Yes: customers can pay with your coin. Test coins: 1 of 1.");
  });
});

it("coins that only need a wallet are listed separately from those that need more", () => {
  const unseen = { ...without("BNB", "NO_WALLET"), warnings: [finding("NO_SOURCE")] };
  const unread = { ...without("TRX", "NO_WALLET"), warnings: [finding("NOT_YET_READ")] };
  const coins = [unread, without("POL", "NO_WALLET", "NO_SOURCE"), unseen, broken];
  const { own, addable, missing } = groupsOf({ coins });
  expect([own, addable, missing].map((each) => each.map(({ network }) => network))).toEqual([
    ["ETH"],
    ["TRX"],
    ["POL", "BNB"],
  ]);
});

it("the currency is taken from the URL if the page offers it", () => {
  expect(readinessSearch({ currency: "EUR" })).toEqual({ currency: "EUR" });
  for (const currency of ["eur", "XXX", 1, undefined]) expect(readinessSearch({ currency })).toEqual({});
});
