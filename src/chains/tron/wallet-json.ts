// Schemas of java-tron's HTTP API (`/wallet`, `/walletsolidity`) and of TronGrid's v1. Numbers are text. The API leaves out fields that are
// zero or empty, and answers `{}` for an unknown item.
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import type { Network } from "../registry/network.ts";
import type { BlockRef, Transfer } from "../sources/transfer.ts";
import { addressOfHex, bareHash } from "./tron-hex.ts";

export const Digits = lazily(() => z.string().regex(/^\d{1,30}$/));
const Hash = lazily(() =>
  z.string().transform((text, context) => {
    const hash = bareHash(text);
    if (hash === undefined) context.addIssue("the hash is missing");
    return hash ?? "";
  }),
);

/** `{}` means that the block is unknown. */
export const WalletBlock = lazily(() =>
  z
    .object({
      blockID: Hash().optional(),
      block_header: z
        .object({ raw_data: z.object({ number: Digits().default("0"), timestamp: Digits().default("0") }) })
        .optional(),
    })
    .transform(({ blockID, block_header }): BlockRef | null => {
      if (blockID === undefined || block_header === undefined) return null;
      const { number, timestamp } = block_header.raw_data;
      return { height: Number(number), hash: blockID, timeMs: Number(timestamp) };
    }),
);

const InternalTransaction = lazily(() =>
  z.object({
    caller_address: z.string().default(""),
    transferTo_address: z.string().default(""),
    callValueInfo: z.array(z.object({ callValue: Digits().default("0"), tokenId: z.string().default("") })).default([]),
    /** Name of the operation, as hexadecimal text. */
    note: z.string().default(""),
    rejected: z.unknown().optional(),
  }),
);

/** `{}` means that the transaction is not in a block. */
export const TransactionInfo = lazily(() =>
  z.object({
    id: Hash().optional(),
    blockNumber: Digits().optional(),
    blockTimeStamp: Digits().optional(),
    receipt: z.object({ result: z.string().default("SUCCESS") }).default({ result: "SUCCESS" }),
    /** `FAILED`, or absent. */
    result: z.string().optional(),
    log: z
      .array(z.object({ address: z.string(), topics: z.array(z.string()).default([]), data: z.string().default("") }))
      .default([]),
    /** Internal transactions in the order in which the contract made them; reported only by nodes that keep them (`saveInternalTx`). */
    internal_transactions: z.array(InternalTransaction()).default([]),
  }),
);
export type TransactionInfo = z.infer<ReturnType<typeof TransactionInfo>>;

/** A transaction that was reverted, ran out of energy or failed in another way moved nothing. */
export function isFailed(info: TransactionInfo): boolean {
  return info.result === "FAILED" || info.receipt.result !== "SUCCESS";
}

export interface InBlock {
  readonly network: Network;
  readonly block: BlockRef;
  readonly recipients: ReadonlySet<string>;
}

/**
 * `call`, `create` and `suicide` move coins. A node that keeps featured internal transactions (`saveFeaturedInternalTx`) lists stakes, votes and
 * delegations of energy as well, with the delegated coins as their value, although no coins move. Such entries are not numbered, so that a transfer
 * has the same number on every node.
 */
const MOVES: ReadonlySet<string> = new Set(["63616c6c", "637265617465", "73756963696465"]);

/**
 * TRX that contracts sent to the recipients in a transaction, as wallet contracts and exchanges' splitters do. TRC-10 tokens are in the same list,
 * with their id. If the node does not name the operation, no rule credits the transfer.
 */
export function internalTransfers(info: TransactionInfo, { network, block, recipients }: InBlock): readonly Transfer[] {
  const txHash = info.id;
  if (txHash === undefined || isFailed(info)) return [];
  const moves = info.internal_transactions.filter(({ note }) => note === "" || MOVES.has(note.toLowerCase()));
  return moves.flatMap((of, ordinal): readonly Transfer[] => {
    const toAddress = addressOfHex(of.transferTo_address);
    const coins = of.callValueInfo.filter(({ tokenId }) => tokenId === "");
    const amountUnits = coins.reduce((sum, { callValue }) => sum + BigInt(callValue), 0n);
    const isRejected = of.rejected === true || of.rejected === "true";
    if (toAddress === undefined || !recipients.has(toAddress) || isRejected || amountUnits === 0n) return [];
    const fromAddress = addressOfHex(of.caller_address) ?? null;
    const what = { cryptocurrency: network.nativeCode, txHash, outputIndex: `internal:${ordinal}`, fromAddress };
    const transfer = { ...what, toAddress, amountUnits, block, spends: [], raw: JSON.stringify(of) };
    return [of.note === "" ? { ...transfer, isUnexplained: true } : transfer];
  });
}

export const WalletTransaction = lazily(() =>
  z.object({
    txID: Hash().optional(),
    block_timestamp: Digits().optional(),
    ret: z.array(z.object({ contractRet: z.string().optional() })).default([]),
    raw_data: z
      .object({ contract: z.array(z.object({ type: z.string(), parameter: z.object({ value: z.unknown() }) })) })
      .optional(),
  }),
);
export type WalletTransaction = z.infer<ReturnType<typeof WalletTransaction>>;

const TransferValue = lazily(() =>
  z.object({ amount: Digits(), owner_address: z.string().max(64), to_address: z.string() }),
);

/**
 * The TRX that a transaction itself transfers to one of the recipients; undefined if it transfers none. Only a TransferContract moves TRX at the top
 * level: a TransferAssetContract moves a TRC-10 token, which anyone may issue, and looks the same in the JSON-RPC.
 */
export function nativeTransfer(of: WalletTransaction, { network, block, recipients }: InBlock): Transfer | undefined {
  const contract = of.raw_data?.contract[0];
  if (of.txID === undefined || contract?.type !== "TransferContract") return undefined;
  if (of.ret[0]?.contractRet !== "SUCCESS") return undefined;
  const value = TransferValue().safeParse(contract.parameter.value);
  const toAddress = value.success ? addressOfHex(value.data.to_address) : undefined;
  if (!value.success || toAddress === undefined || !recipients.has(toAddress)) return undefined;
  const amountUnits = BigInt(value.data.amount);
  if (amountUnits === 0n) return undefined;
  return {
    cryptocurrency: network.nativeCode,
    txHash: of.txID,
    outputIndex: "native",
    fromAddress: addressOfHex(value.data.owner_address) ?? null,
    toAddress,
    amountUnits,
    block,
    spends: [],
    raw: JSON.stringify({ type: contract.type, ...value.data }),
  };
}
