import { describe, expect, test } from "vitest";
import { addressOfHex } from "../../../../src/chains/tron/tron-hex.ts";
import {
  internalTransfers,
  isFailed,
  nativeTransfer,
  TransactionInfo,
  WalletBlock,
  WalletTransaction,
} from "../../../../src/chains/tron/wallet-json.ts";
import { network } from "../../../support/named-network.ts";

const txID = "cd".repeat(32);
const [payer, shop] = [`41${"44".repeat(20)}`, `41${"22".repeat(20)}`];
const block = { height: 7, hash: "ab".repeat(32), timeMs: 1_700_000_000_000 };
const of = { network: network("TRX"), block, recipients: new Set([addressOfHex(shop) ?? ""]) };
const value = { amount: "12500000", owner_address: payer, to_address: shop };
const contract = (type: string, changes: object = {}) => ({ type, parameter: { value: { ...value, ...changes } } });
const transaction = (contracts: readonly object[], contractRet = "SUCCESS") =>
  WalletTransaction().parse({ txID, ret: [{ contractRet }], raw_data: { contract: contracts } });

describe("in a transaction from TRON's HTTP API,", () => {
  test("a TransferContract that succeeded is a transfer of TRX", () => {
    expect(nativeTransfer(transaction([contract("TransferContract")]), of)).toEqual({
      cryptocurrency: "TRX",
      txHash: txID,
      outputIndex: "native",
      fromAddress: addressOfHex(payer),
      toAddress: addressOfHex(shop),
      amountUnits: 12_500_000n,
      block,
      spends: [],
      raw: JSON.stringify({ type: "TransferContract", ...value }),
    });
  });

  test.each<[string, WalletTransaction]>([
    ["a TRC-10 token, which anyone may issue", transaction([contract("TransferAssetContract", { asset_name: "31" })])],
    ["a stake for another account", transaction([contract("FreezeBalanceContract", { frozen_balance: "1" })])],
    ["a contract call that carries coins", transaction([contract("TriggerSmartContract", { call_value: "1" })])],
    ["a failed transfer", transaction([contract("TransferContract")], "OUT_OF_ENERGY")],
    ["a transfer to another account", transaction([contract("TransferContract", { to_address: payer })])],
    ["an amount of zero", transaction([contract("TransferContract", { amount: "0" })])],
    ["a negative amount", transaction([contract("TransferContract", { amount: "-1" })])],
    ["an amount that is not a whole number", transaction([contract("TransferContract", { amount: "1.5" })])],
    ["a transaction without a contract", transaction([])],
    [
      "a transfer without a result",
      WalletTransaction().parse({ txID, raw_data: { contract: [contract("TransferContract")] } }),
    ],
    [
      "TronGrid's row of an internal transaction",
      WalletTransaction().parse({ internal_tx_id: "ab", tx_id: txID, data: {} }),
    ],
  ])("%s is not a transfer", (_, found) => {
    expect(nativeTransfer(found, of)).toBeUndefined();
  });
});

describe("among the internal transactions from TRON's HTTP API,", () => {
  const noteOf = (name: string) => Buffer.from(name).toString("hex");
  const inside = (name: string, sun: number, more: object = {}) => ({
    caller_address: payer,
    transferTo_address: shop,
    callValueInfo: [{ callValue: String(sun) }],
    note: noteOf(name),
    ...more,
  });
  const found = (internal_transactions: readonly object[]) =>
    internalTransfers(TransactionInfo().parse({ id: txID, blockNumber: "7", internal_transactions }), of).map(
      ({ outputIndex, amountUnits, isUnexplained = false }) => [outputIndex, amountUnits, isUnexplained],
    );

  test.each(["call", "create", "suicide"])("a %s moves coins", (name) => {
    expect(found([inside(name, 5)])).toEqual([["internal:0", 5n, false]]);
  });

  test.each(["delegateResourceOfEnergy", "unDelegateResourceOfEnergy", "delegateResourceOfBandwidth", "voteWitness"])(
    "%s moves no coins, and does not count in the numbering of transfers",
    (name) => {
      expect(found([inside(name, 100), inside("call", 5)])).toEqual([["internal:0", 5n, false]]);
    },
  );

  test("a transaction without a type is marked as unexplained, so that a user decides about it", () => {
    expect(found([inside("", 5)])).toEqual([["internal:0", 5n, true]]);
  });

  test("rejected transactions, TRC-10 tokens and payments to other accounts are not transfers", () => {
    const token = { callValueInfo: [{ callValue: "5", tokenId: "1000001" }] };
    const all = [{ rejected: true }, token, { transferTo_address: payer }].map((more) => inside("call", 5, more));
    expect(found(all)).toEqual([]);
  });
});

describe("in blocks and results from TRON's HTTP API,", () => {
  test("omitted fields are zero, and {} means not found", () => {
    const hash = "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc";
    expect(WalletBlock().parse({ blockID: hash, block_header: { raw_data: {} } })).toEqual({
      height: 0,
      hash,
      timeMs: 0,
    });
    expect(WalletBlock().parse({})).toBeNull();
    expect(TransactionInfo().parse({})).toMatchObject({ log: [] });
    expect(WalletTransaction().parse({}).txID).toBeUndefined();
  });

  test.each([
    [{}, false],
    [{ receipt: { net_usage: "268" } }, false],
    [{ receipt: { result: "SUCCESS" } }, false],
    [{ receipt: { result: "REVERT" } }, true],
    [{ receipt: { result: "OUT_OF_ENERGY" }, result: "FAILED" }, true],
    [{ result: "FAILED" }, true],
  ])("%j counts as failed: %j", (info, failed) => {
    expect(isFailed(TransactionInfo().parse({ id: txID, ...info }))).toBe(failed);
  });
});
