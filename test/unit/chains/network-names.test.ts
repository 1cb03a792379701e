import { describe, expect, it } from "vitest";
import { coinName, networkName } from "../../../dashboard/src/shell/coin-name.ts";
import { isTestNetwork, NETWORKS } from "../../../src/chains/registry/networks.ts";

const TESTS = NETWORKS.filter(({ isTest }) => isTest);

describe("a network whose coins have no value", () => {
  it.each(TESTS)("has one name for payers, emails and the console, which says that it is a test: $name", (network) => {
    const { name, displayName, nativeCode } = network;
    expect(networkName(name)).toBe(displayName);
    expect(displayName).toMatch(/ (testnet|regtest)$/);
    expect(coinName(nativeCode, name)).toBe(`${nativeCode} on ${displayName}`);
  });

  it.each(NETWORKS)(
    "is recognised by one rule, under each of its names: $name",
    ({ name, aliases, isTest, displayName }) => {
      for (const each of [name, name.toLowerCase(), ...aliases])
        expect([each, isTestNetwork(each)]).toEqual([each, isTest]);
      expect(/ (testnet|regtest)$/.test(displayName)).toBe(isTest);
    },
  );

  it("is not an unknown network", () => {
    expect(["", "ETH_", "DOGE", "Ethereum Sepolia testnet"].map(isTestNetwork)).toEqual([false, false, false, false]);
  });

  it("has no effect on the main networks' names in the console: the API's codes", () => {
    expect([coinName("ETH", "ETH"), coinName("USDT", "ETH"), networkName("BNB")]).toEqual([
      "ETH",
      "USDT on ETH",
      "BNB",
    ]);
  });
});
