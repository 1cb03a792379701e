import { describe, expect, test } from "vitest";
import {
  type ReceiptLog,
  TRANSFER_TOPIC,
  tokenTransfers,
  topicOfAddress,
} from "../../../../src/chains/tron/token-logs.ts";
import { addressOfHex } from "../../../../src/chains/tron/tron-hex.ts";
import { network } from "../../../support/named-network.ts";

const USDT = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";
const [payer, shop] = ["44".repeat(20), "22".repeat(20)];
const word = (hex: string) => hex.padStart(64, "0");
const log = (changes: Partial<ReceiptLog> = {}): ReceiptLog => ({
  address: USDT,
  topics: [TRANSFER_TOPIC, word(payer), word(shop)],
  data: word("4c4b40"),
  ...changes,
});
const block = { height: 7, hash: "ab".repeat(32), timeMs: 1_700_000_000_000 };
const of = {
  txHash: "cd".repeat(32),
  block,
  recipients: new Set([addressOfHex(shop) ?? ""]),
  assets: network("TRX").assets,
};

describe("in the logs of a TRON transaction,", () => {
  test("a Transfer of a listed token has its log index, its addresses as wallets show them, and the log itself", () => {
    const other = log({ topics: [TRANSFER_TOPIC, word(payer), word(payer)] });
    expect(tokenTransfers([other, log()], of)).toEqual([
      {
        cryptocurrency: "USDT",
        txHash: of.txHash,
        outputIndex: "1",
        fromAddress: addressOfHex(payer),
        toAddress: addressOfHex(shop),
        amountUnits: 5_000_000n,
        block,
        spends: [],
        raw: JSON.stringify(log()),
      },
    ]);
  });

  test("hexadecimal with 0x, from JSON-RPC, gives the same transfers as hexadecimal without 0x, from the HTTP API", () => {
    const prefixed = {
      address: `0x${USDT.toUpperCase()}`,
      topics: log().topics.map((topic) => `0x${topic}`),
      data: `0x${log().data}`,
    };
    const facts = (logs: readonly ReceiptLog[]) => tokenTransfers(logs, of).map((each) => ({ ...each, raw: "" }));
    expect(facts([prefixed])).toEqual(facts([log()]));
    expect(facts([prefixed])).toHaveLength(1);
  });

  test.each<[string, Partial<ReceiptLog>]>([
    ["another contract", { address: "5f".repeat(20) }],
    ["another event", { topics: [word("1"), word(payer), word(shop)] }],
    ["no recipient", { topics: [TRANSFER_TOPIC, word(payer)] }],
    ["an ERC-721's id as a fourth topic", { topics: [TRANSFER_TOPIC, word(payer), word(shop), word("1")] }],
    ["no topics", { topics: [] }],
    ["another recipient", { topics: [TRANSFER_TOPIC, word(shop), word(payer)] }],
    ["a recipient longer than an address", { topics: [TRANSFER_TOPIC, word(payer), word(`1${shop}`)] }],
    ["a sender longer than an address", { topics: [TRANSFER_TOPIC, word(`1${payer}`), word(shop)] }],
    ["an amount of zero", { data: word("0") }],
    ["no data", { data: "" }],
    ["two words of data", { data: word("1") + word("1") }],
    ["half a word of data", { data: "01" }],
  ])("a log with %s is not a transfer", (_, changes) => {
    expect(tokenTransfers([log(changes)], of)).toEqual([]);
    // A transfer after that log keeps its own index.
    expect(tokenTransfers([log(changes), log()], of).map(({ outputIndex }) => outputIndex)).toEqual(["1"]);
  });

  test("the largest amount that fits in a word is exact", () => {
    const [most] = tokenTransfers([log({ data: "f".repeat(64) })], of);
    expect(most?.amountUnits).toBe(2n ** 256n - 1n);
  });

  test("an address has the topic that the logs of its transfers contain", () => {
    expect(topicOfAddress(addressOfHex(shop) ?? "")).toBe(word(shop));
    expect(topicOfAddress("T")).toBeUndefined();
  });
});
