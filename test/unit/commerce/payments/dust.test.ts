import { describe, expect, it, test } from "vitest";
import type { NetworkName } from "../../../../src/chains/networks.ts";
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
])("on %s the least of %s is %s base units", (name, code, units) => {
  expect(dustLimitUnits(network(name), code)).toBe(units);
});

describe("a transfer that a rule would credit", () => {
  const cases: [string, { units?: bigint; expected?: bigint; tol?: bigint; value?: bigint | null }, boolean][] = [
    ["at the limit of the asset", { units: 546n, expected: 0n }, false],
    ["below the limit of the asset, whatever it is worth", { units: 545n, value: 100_000_000n }, true],
    ["at 1 % of what is expected", { value: 1_000_000n }, false],
    ["below 1 % of what is expected", { value: 999_999n }, true],
    ["below 1 % of what is expected, as much as may not be missing", { tol: 500_000n, value: 500_000n }, false],
    ["below 1 % of what is expected, less than may be missing", { tol: 500_000n, value: 499_999n }, true],
    ["of an invoice that forgives nothing, however little", { tol: 0n, value: 0n }, false],
    ["on an any-amount invoice, however little", { expected: 0n, value: 1n }, false],
    ["of a worth that is not known", { value: null }, false],
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

describe("a transfer that no rule credits", () => {
  const cases: [string, { units?: bigint; usd: bigint | null }, boolean][] = [
    ["of ten cents", { usd: 100_000n }, false],
    ["of less than ten cents", { usd: 99_999n }, true],
    ["below the limit of the asset, whatever it is worth", { units: 545n, usd: 100_000_000n }, true],
    ["of a worth that is not known", { usd: null }, false],
    ["of a worth that is not known, below the limit", { units: 545n, usd: null }, true],
  ];
  it.each(cases)("%s", (_, { units = 1_000n, usd }, isDust) => {
    const facts = { network: network("BTC"), cryptocurrency: "BTC", amountUnits: units };
    expect(isUnmatchedDust({ ...facts, usdMicros: usd })).toBe(isDust);
  });
});
