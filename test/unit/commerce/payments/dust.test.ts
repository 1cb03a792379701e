import { describe, expect, it, test } from "vitest";
import type { NetworkName } from "../../../../src/chains/registry/networks.ts";
import { dustLimitUnits, isCreditedDust, isUnmatchedDust } from "../../../../src/commerce/payments/dust.ts";
import { network } from "../../../support/named-network.ts";

test.each<[NetworkName, string, bigint]>([
  ["BTC", "BTC", 546n],
  ["BTC_TESTNET", "BTC", 546n],
  ["BTC_REGTEST", "BTC", 546n],
  ["LTC", "LTC", 5_460n],
  ["LTC_REGTEST", "LTC", 5_460n],
  ["ETH", "ETH", 1n],
  ["ETH", "USDT", 1n],
  ["TRX", "TRX", 1n],
])("on %s the dust limit of %s is %s base units", (name, code, units) => {
  expect(dustLimitUnits(network(name), code)).toBe(units);
});

describe("a transfer that would be credited", () => {
  const cases: [string, { units?: bigint; expected?: bigint; tol?: bigint; value?: bigint | null }, boolean][] = [
    ["at the asset's dust limit: not dust", { units: 546n, expected: 0n }, false],
    ["below the asset's dust limit: dust, whatever it is worth", { units: 545n, value: 100_000_000n }, true],
    ["at 1 % of the expected amount: not dust", { value: 1_000_000n }, false],
    ["below 1 % of the expected amount: dust", { value: 999_999n }, true],
    ["below 1 % of the expected amount, worth the tolerance: not dust", { tol: 500_000n, value: 500_000n }, false],
    ["below 1 % of the expected amount, worth less than the tolerance: dust", { tol: 500_000n, value: 499_999n }, true],
    ["of any worth, to an invoice without tolerance: not dust", { tol: 0n, value: 0n }, false],
    ["of any worth, to an any-amount invoice: not dust", { expected: 0n, value: 1n }, false],
    ["of unknown value: not dust", { value: null }, false],
  ];
  it.each(cases)(
    "%s",
    (_, { units = 1_000n, expected = 100_000_000n, tol = 1_000_000n, value = 100_000_000n }, isDust) => {
      const facts = { network: network("BTC"), cryptocurrency: "BTC", amountUnits: units };
      expect(
        isCreditedDust({ ...facts, expectedMicros: expected, underpaidToleranceMicros: tol, valueMicros: value }),
      ).toBe(isDust);
    },
  );
});

describe("a transfer that would not be credited", () => {
  const cases: [string, { units?: bigint; usd: bigint | null }, boolean][] = [
    ["of ten cents: not dust", { usd: 100_000n }, false],
    ["of less than ten cents: dust", { usd: 99_999n }, true],
    ["below the asset's dust limit: dust, whatever it is worth", { units: 545n, usd: 100_000_000n }, true],
    ["of unknown value: not dust", { usd: null }, false],
    ["of unknown value, below the asset's dust limit: dust", { units: 545n, usd: null }, true],
  ];
  it.each(cases)("%s", (_, { units = 1_000n, usd }, isDust) => {
    const facts = { network: network("BTC"), cryptocurrency: "BTC", amountUnits: units };
    expect(isUnmatchedDust({ ...facts, usdMicros: usd })).toBe(isDust);
  });
});
