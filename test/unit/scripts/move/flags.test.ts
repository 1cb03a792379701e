import { describe, expect, it } from "vitest";
import { readFlags } from "../../../../scripts/move/flags.ts";

const BTCPAY = ["btcpay", "--from", "https://btcpay.example"];

describe("the command line of a move", () => {
  it("names servers, ids and the decision for each coin", () => {
    const to = ["--to", "https://pay.example", "--merchant", "mer_1", "--store", "S1"];
    expect(readFlags([...BTCPAY, ...to, "--key", "btc=zpub1", "--unused", "ltc", "--plan"])).toEqual({
      source: "btcpay",
      from: "https://btcpay.example",
      folder: undefined,
      store: "S1",
      fromMerchant: undefined,
      to: "https://pay.example",
      merchant: "mer_1",
      isPlanOnly: true,
      isYes: false,
      isPlugin: false,
      keys: new Map([["BTC", "zpub1"]]),
      unused: new Set(["LTC"]),
    });
  });

  it.each([
    ["no source", []],
    ["an unknown source", ["stripe"]],
    ["two sources", [...BTCPAY, "interface"]],
    ["neither server nor folder", ["btcpay"]],
    ["server and folder", [...BTCPAY, "--export", "here"]],
    ["an API key", [...BTCPAY, "--api-key", "secret"]],
    ["a merchant's server without the merchant", ["interface", "--from", "https://old.example"]],
    ["a target without its merchant", [...BTCPAY, "--to", "https://pay.example"]],
    ["an id with parent folders", [...BTCPAY, "--store", "../S1"]],
    ["a key without a coin", [...BTCPAY, "--key", "zpub1"]],
    ["a coin without extended keys", [...BTCPAY, "--unused", "ETH"]],
  ])("with %s is refused", (_, args) => expect(() => readFlags(args)).toThrow());
});
