import { describe, expect, it } from "vitest";
import { configurationFaults } from "../../src/configuration.ts";

const GOOD = {
  ENVIRONMENT: "production",
  PUBLIC_URL: "https://pay.example",
  RATE_SOURCE: "coinbase,kraken",
  ROW_MAC_KEY: `k1:${btoa("0123456789abcdef0123456789abcdef")}`,
  CHAIN_SOURCES: '{"ETH":[{"kind":"evm-rpc","url":"https://node.example"}]}',
};
const codes = (changes: Partial<Record<keyof typeof GOOD, string | undefined>>) =>
  configurationFaults({ ...GOOD, ...changes }).map((fault) => fault.code);

describe("the variables of a deployment", () => {
  it("good ones have no fault", () => {
    expect(codes({})).toEqual([]);
  });

  it("each wrong one is named, and only a missing row key is fatal", () => {
    const faults = configurationFaults({
      ENVIRONMENT: undefined,
      PUBLIC_URL: undefined,
      RATE_SOURCE: undefined,
      ROW_MAC_KEY: undefined,
      CHAIN_SOURCES: "[]",
    });
    expect(faults.map(({ code, isFatal }) => [code, isFatal])).toEqual([
      ["ROW_MAC_KEY_INVALID", true],
      ["RATE_SOURCE_INVALID", false],
      ["CHAIN_SOURCES_INVALID", false],
      ["PUBLIC_URL_MISSING", false],
    ]);
  });

  it.each([
    [{ ROW_MAC_KEY: "k1:short" }, "ROW_MAC_KEY_INVALID"],
    [{ RATE_SOURCE: "coinbase" }, "RATE_SOURCE_INVALID"],
    [{ RATE_SOURCE: "fixed" }, "RATE_SOURCE_INVALID"],
    [{ CHAIN_SOURCES: '{"ETH":[]}' }, "CHAIN_SOURCES_INVALID"],
    [{ PUBLIC_URL: " " }, "PUBLIC_URL_MISSING"],
  ])("%j in production is %s", (changes, code) => {
    expect(codes(changes)).toEqual([code]);
  });

  it("development may use fixed rates and do without a public address", () => {
    expect(codes({ ENVIRONMENT: "development", RATE_SOURCE: "fixed", PUBLIC_URL: "" })).toEqual([]);
  });

  it("no problem repeats a secret", () => {
    const faults = configurationFaults({ ...GOOD, ROW_MAC_KEY: "hunter2", CHAIN_SOURCES: '{"hunter2":[]}' });
    expect(faults).toHaveLength(2);
    expect(JSON.stringify(faults)).not.toContain("hunter2");
  });
});
