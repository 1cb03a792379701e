import { describe, expect, it } from "vitest";
import { minedTransfers } from "../../../../src/chains/evm/mined-transfers.ts";
import type { ReceiptLog, RpcReceipt, RpcTransaction } from "../../../../src/chains/evm/rpc-json.ts";
import {
  LOG_TRANSFER_TOPIC,
  POLYGON_COIN,
  TRANSFER_TOPIC,
  topicOf,
  wantedOf,
} from "../../../../src/chains/evm/token-log.ts";
import { network } from "../../../support/named-network.ts";

const SHOP = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const PAYER = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";
const shop = SHOP.toLowerCase();
const payer = PAYER.toLowerCase();
const contract = `0x${"77".repeat(20)}`;
const txHash = `0x${"cd".repeat(32)}`;
const block = { height: 7, hash: `0x${"ab".repeat(32)}`, timeMs: 1_700_000_000_000 };
const word = (value: bigint) => value.toString(16).padStart(64, "0");

const tokenLog = (units: bigint, to = shop): ReceiptLog => ({
  address: "0xc2132d05d31c914a87c6611c10748aeb04b58e8f",
  topics: [TRANSFER_TOPIC, topicOf(payer), topicOf(to)],
  data: `0x${word(units)}`,
  logIndex: 90,
});
const coinLog = (from: string, units: bigint, to = shop): ReceiptLog => ({
  address: POLYGON_COIN,
  topics: [LOG_TRANSFER_TOPIC, `0x${word(0x1010n)}`, topicOf(from), topicOf(to)],
  data: `0x${[units, 900n, 9n, 900n - units, 9n + units].map(word).join("")}`,
  logIndex: 91,
});
/** The coin's contract writes a log of its own for a call to its `transfer`, after the value has left the payer. */
const contractsLog = (from: string, units: bigint): ReceiptLog => ({
  ...coinLog(from, units),
  data: `0x${[units, 900n, 9n, 900n, 9n].map(word).join("")}`,
});
const receipt = (logs: readonly ReceiptLog[], status = true): RpcReceipt => ({
  transactionHash: txHash,
  blockNumber: 7,
  blockHash: block.hash,
  status,
  logs: [...logs],
  gasUsed: 21_000n,
  effectiveGasPrice: 1n,
});
const transaction = (of: Partial<RpcTransaction> = {}): RpcTransaction => ({
  hash: txHash,
  from: payer,
  to: shop,
  value: 0n,
  gasPrice: 1n,
  ...of,
});
const wanted = (name: "ETH" | "POL") => wantedOf(new Set([SHOP]), network(name).assets);
const placesOf = (...of: Parameters<typeof minedTransfers>) =>
  minedTransfers(...of).map(({ outputIndex, cryptocurrency, amountUnits }) => [
    outputIndex,
    cryptocurrency,
    amountUnits,
  ]);

describe("a mined transaction", () => {
  it("has a transfer for each log that pays, numbered by its index among all logs of the transaction", () => {
    const logs = [tokenLog(1n, payer), tokenLog(2n), coinLog(payer, 9n, contract), tokenLog(3n)];
    const found = minedTransfers({ receipt: receipt(logs), transaction: null, block }, wanted("POL"), true);
    expect(found.map(({ outputIndex, amountUnits }) => [outputIndex, amountUnits])).toEqual([
      ["1", 2n],
      ["3", 3n],
    ]);
    expect(found[0]).toEqual({
      cryptocurrency: "USDT",
      txHash,
      outputIndex: "1",
      fromAddress: PAYER,
      toAddress: SHOP,
      amountUnits: 2n,
      block,
      spends: [],
      raw: JSON.stringify(tokenLog(2n)),
    });
  });

  it("has its own value as one native transfer, if the coin is requested", () => {
    const mined = { receipt: receipt([]), transaction: transaction({ value: 5n }), block };
    expect(minedTransfers(mined, wanted("ETH"), false)).toMatchObject([
      { cryptocurrency: "ETH", outputIndex: "native", amountUnits: 5n, fromAddress: PAYER, toAddress: SHOP },
    ]);
    expect(minedTransfers(mined, { ...wanted("ETH"), native: null }, false)).toEqual([]);
  });

  it.each([
    ["pays another account", transaction({ value: 5n, to: payer })],
    ["creates a contract", transaction({ value: 5n, to: null })],
    ["has no value", transaction()],
  ])("that %s has no native transfer", (_, of) => {
    expect(minedTransfers({ receipt: receipt([]), transaction: of, block }, wanted("ETH"), false)).toEqual([]);
  });

  it("that was reverted has no transfers, even if its receipt contains logs", () => {
    const mined = {
      receipt: receipt([tokenLog(2n), coinLog(payer, 5n)], false),
      transaction: transaction({ value: 5n }),
      block,
    };
    expect(minedTransfers(mined, wanted("POL"), true)).toEqual([]);
    expect(minedTransfers(mined, wanted("POL"), false)).toEqual([]);
  });

  it("has only its hash, accounts, value and gas price as evidence, without the call data", () => {
    const value = 2n ** 256n - 1n;
    const [found] = minedTransfers(
      { receipt: receipt([]), transaction: transaction({ value }), block },
      wanted("ETH"),
      false,
    );
    expect(JSON.parse(found?.raw ?? "")).toEqual({
      hash: txHash,
      from: payer,
      to: shop,
      value: `0x${"f".repeat(64)}`,
      gasPrice: "0x1",
    });
  });
});

describe("on Polygon,", () => {
  it.each<[string, readonly ReceiptLog[], RpcTransaction, readonly (readonly [string, bigint])[]]>([
    ["the transaction's own value is native", [coinLog(payer, 5n)], transaction({ value: 5n }), [["native", 5n]]],
    [
      "coins moved by a contract are identified by the log's index",
      [coinLog(payer, 5n, contract), coinLog(contract, 5n)],
      transaction({ value: 5n, to: contract }),
      [["1", 5n]],
    ],
    [
      "of two equal logs only the first is native",
      [coinLog(payer, 5n), coinLog(payer, 5n)],
      transaction({ value: 5n }),
      [
        ["native", 5n],
        ["1", 5n],
      ],
    ],
    [
      "the same amount from another sender is not native",
      [coinLog(contract, 5n), coinLog(payer, 5n)],
      transaction({ value: 5n }),
      [
        ["0", 5n],
        ["native", 5n],
      ],
    ],
    ["a value without a log is not a transfer", [], transaction({ value: 5n }), []],
    [
      "a transfer through the coin's own contract is one transfer",
      [coinLog(payer, 5n, POLYGON_COIN), coinLog(POLYGON_COIN, 5n), contractsLog(payer, 5n)],
      transaction({ value: 5n, to: POLYGON_COIN }),
      [["1", 5n]],
    ],
  ])("%s", (_, logs, of, expected) => {
    const found = placesOf({ receipt: receipt(logs), transaction: of, block }, wanted("POL"), true);
    expect(found).toEqual(expected.map(([place, units]) => [place, "POL", units]));
  });

  it("the movements of tokens and coins in one transaction share one numbering", () => {
    const logs = [coinLog(payer, 5n), tokenLog(2n), coinLog(contract, 3n)];
    const found = placesOf(
      { receipt: receipt(logs), transaction: transaction({ value: 5n }), block },
      wanted("POL"),
      true,
    );
    expect(found).toEqual([
      ["1", "USDT", 2n],
      ["native", "POL", 5n],
      ["2", "POL", 3n],
    ]);
  });
});
