import { describe, expect, it } from "vitest";
import { explainedChanges, growthTransfer, unexplainedUnits } from "../../../../src/chains/evm/balance-change.ts";
import type { RpcReceipt, RpcTransaction } from "../../../../src/chains/evm/rpc-json.ts";

const SHOP = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const shop = SHOP.toLowerCase();
const payer = `0x${"44".repeat(20)}`;
const mined = (transaction: Partial<RpcTransaction>, receipt: Partial<RpcReceipt> = {}) => ({
  transaction: { hash: "0x", from: payer, to: shop, value: 0n, gasPrice: 3n, ...transaction },
  receipt: {
    transactionHash: "0x",
    blockNumber: 1,
    blockHash: "0x",
    status: true,
    logs: [],
    gasUsed: 10n,
    effectiveGasPrice: 2n,
    ...receipt,
  },
});

describe("in a balance change that transactions explain,", () => {
  it.each([
    ["a payment adds its value", [mined({ value: 5n })], 5n],
    ["a reverted payment adds nothing", [mined({ value: 5n }, { status: false })], 0n],
    ["sending costs the value and the fee", [mined({ from: shop, to: payer, value: 5n })], -25n],
    ["a failed send costs the fee", [mined({ from: shop, to: payer, value: 5n }, { status: false })], -20n],
    ["creating a contract costs the value and the fee", [mined({ from: shop, to: null, value: 5n })], -25n],
    ["sending to itself costs the fee", [mined({ from: shop, value: 5n })], -20n],
    [
      "the offered gas price is used when the paid price is unknown",
      [mined({ from: shop, to: payer }, { effectiveGasPrice: null })],
      -30n,
    ],
    [
      "on the OP Stack sending also costs the data fee and the operator fee",
      [mined({ from: shop, to: payer, value: 5n }, { l1Fee: 7n, operatorFeeScalar: 2n, operatorFeeConstant: 1n })],
      -25n - 7n - 2_000n - 1n,
    ],
    [
      "a deposit from Ethereum adds the minted amount and subtracts the value it sends",
      [mined({ from: shop, to: payer, value: 5n, mintedUnits: 8n }, { gasUsed: 0n })],
      3n,
    ],
    [
      "a failed deposit adds the minted amount",
      [mined({ from: shop, to: payer, value: 5n, mintedUnits: 8n }, { status: false, gasUsed: 0n })],
      8n,
    ],
    [
      "a deposit to the sender's own account adds only the minted amount",
      [mined({ from: shop, value: 8n, mintedUnits: 8n }, { gasUsed: 0n })],
      8n,
    ],
    [
      "several transactions are added up",
      [mined({ value: 5n }), mined({ value: 6n }), mined({ from: shop, to: payer, value: 1n })],
      -10n,
    ],
  ])("%s", (_, transactions, change) => {
    expect(explainedChanges(transactions, new Set([shop])).get(shop)?.units).toBe(change);
  });

  it("the change is computed only for the requested accounts", () => {
    expect([...explainedChanges([mined({ value: 5n })], new Set([shop])).keys()]).toEqual([shop]);
  });

  it("only the transactions that succeeded in paying the account are listed as payers", () => {
    const hashOf = (digits: string) => `0x${digits.repeat(32)}`;
    const changes = explainedChanges(
      [
        mined({ hash: hashOf("01"), value: 5n }),
        mined({ hash: hashOf("02"), value: 5n }, { status: false }),
        mined({ hash: hashOf("03"), from: shop, to: payer, value: 5n }),
      ],
      new Set([shop]),
    );
    expect(changes.get(shop)?.paidBy).toEqual(["0x0101010101"]);
  });

  it("an unexplained remainder is identified by height, recipient and units", () => {
    const block = { height: 7, hash: `0x${"ab".repeat(32)}`, timeMs: 1 };
    const move = { account: shop, before: 100n, after: 90n, explained: { units: -25n, paidBy: ["0x0101010101"] } };
    expect(unexplainedUnits(move)).toBe(15n);
    expect(growthTransfer(move, block, "BNB")).toEqual({
      cryptocurrency: "BNB",
      txHash: "block:7",
      outputIndex: `balance:${SHOP}:15`,
      fromAddress: null,
      toAddress: SHOP,
      amountUnits: 15n,
      block,
      spends: [],
      raw: '{"kind":"balance","before":"100","after":"90","explained":"-25"}',
      growth: { explainedBy: ["0x0101010101"] },
    });
  });
});
