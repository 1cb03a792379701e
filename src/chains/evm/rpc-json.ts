// What EVM nodes answer, parsed. All hexadecimal becomes lower case; addresses get the spelling of wallets where a transfer is made.
import * as z from "zod";
import type { BlockRef } from "../transfer.ts";

/** Also of indexes and seconds. */
export const Height = z
  .string()
  .regex(/^0x[0-9a-f]{1,12}$/i)
  .transform(Number);
export const Units = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/i)
  .transform(BigInt);
export const Hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .toLowerCase();
const Account = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .toLowerCase();
/** Bytes of any length. */
export const Bytes = z
  .string()
  .regex(/^0x([0-9a-f]{2})*$/i)
  .toLowerCase();

const Header = { number: Height, hash: Hash, timestamp: Height };
const refOf = (of: { readonly number: number; readonly hash: string; readonly timestamp: number }): BlockRef => ({
  height: of.number,
  hash: of.hash,
  timeMs: of.timestamp * 1000,
});

/** Null: a block above the tip. */
export const RpcBlock = z.object(Header).transform(refOf).nullable();

export const RpcTransaction = z.object({
  hash: Hash,
  from: Account,
  /** Null where it creates a contract. */
  to: Account.nullish(),
  value: Units,
  gasPrice: Units.nullish(),
});
export type RpcTransaction = z.infer<typeof RpcTransaction>;

export interface FullBlock {
  readonly block: BlockRef;
  readonly parentHash: string;
  readonly transactions: readonly RpcTransaction[];
}

export const FullBlock = z
  .object({ ...Header, parentHash: Hash, transactions: z.array(RpcTransaction) })
  .transform((of): FullBlock => ({ block: refOf(of), parentHash: of.parentHash, transactions: of.transactions }))
  .nullable();

const LogWords = { address: Account, topics: z.array(Bytes), data: Bytes, logIndex: Height };
const ReceiptLog = z.object(LogWords);
export type ReceiptLog = z.infer<typeof ReceiptLog>;

/** As `eth_getLogs` tells it. A node may send thousands: only those that are ours are read whole, as `LogHit`. */
export const FoundLog = z.object({
  address: z.string(),
  topics: z.array(z.string()),
  data: z.string(),
  blockNumber: z.string(),
  blockHash: z.string(),
  transactionHash: z.string(),
  logIndex: z.string(),
  removed: z.boolean().nullish(),
});
export type FoundLog = z.infer<typeof FoundLog>;

export const LogHit = z.object({ ...LogWords, blockNumber: Height, blockHash: Hash, transactionHash: Hash });
export type LogHit = z.infer<typeof LogHit>;

export const RpcReceipt = z.object({
  transactionHash: Hash,
  blockNumber: Height,
  blockHash: Hash,
  status: z.string().transform((status) => status === "0x1"),
  logs: z.array(ReceiptLog),
  gasUsed: Units,
  effectiveGasPrice: Units.nullish(),
});
export type RpcReceipt = z.infer<typeof RpcReceipt>;

/** As nodes take heights. */
export const quantity = (height: number): string => `0x${height.toString(16)}`;
