import { describe, expect, it } from "vitest";
import { coinName, networkName } from "../../../dashboard/src/shell/coin-name.ts";
import { isTestNetwork, NETWORKS } from "../../../src/chains/registry/networks.ts";

const TESTS = NETWORKS.filter(({ isTest }) => isTest);

describe("a test network", () => {
  it.each(TESTS)("has one name for payers, emails and the console, which says that it is a test: $name", (network) => {
    const { name, displayName, nativeCode } = network;
    expect(networkName(name)).toBe(displayName);
    expect(displayName).toMatch(/ (testnet|regtest)$/);
    expect(coinName(nativeCode, name)).toBe(`${nativeCode} on ${displayName}`);
  });

  it.each(NETWORKS)(
    "is distinguished from a main network under every name and alias, in upper or lower case: $name",
    ({ name, aliases, isTest, displayName }) => {
      for (const each of [name, name.toLowerCase(), ...aliases])
        expect([each, isTestNetwork(each)]).toEqual([each, isTest]);
      expect(/ (testnet|regtest)$/.test(displayName)).toBe(isTest);
    },
  );

  it("is not assumed for an unknown name", () => {
    expect(["", "ETH_", "DOGE", "Ethereum Sepolia testnet"].map(isTestNetwork)).toEqual([false, false, false, false]);
  });

  it("is shown by its own name, while the console shows a main network by the API's code", () => {
    expect([coinName("ETH", "ETH"), coinName("USDT", "ETH"), networkName("BNB")]).toEqual([
      "ETH",
      "USDT on ETH",
      "BNB",
    ]);
  });
});
