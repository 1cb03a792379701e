// Schemas of EVM nodes' answers. Hexadecimal text becomes lower case, except in `FoundLog`; addresses get their stored form when a transfer is made.
import { numberToHex } from "viem/utils";
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import type { BlockRef } from "../sources/transfer.ts";

/** A hexadecimal number that fits a JavaScript number: a height, an index, or a time in seconds. */
export const Height = lazily(() =>
  z
    .string()
    .regex(/^0x[0-9a-f]{1,12}$/i)
    .transform(Number),
);
export const Units = lazily(() =>
  z
    .string()
    .regex(/^0x[0-9a-f]{1,64}$/i)
    .transform(BigInt),
);
export const Hash = lazily(() =>
  z
    .string()
    .regex(/^0x[0-9a-f]{64}$/i)
    .toLowerCase(),
);
const Account = lazily(() =>
  z
    .string()
    .regex(/^0x[0-9a-f]{40}$/i)
    .toLowerCase(),
);
export const Bytes = lazily(() =>
  z
    .string()
    .regex(/^0x([0-9a-f]{2})*$/i)
    .toLowerCase(),
);

const Header = lazily(() => ({ number: Height(), hash: Hash(), timestamp: Height() }));
const refOf = (of: { readonly number: number; readonly hash: string; readonly timestamp: number }): BlockRef => ({
  height: of.number,
  hash: of.hash,
  timeMs: of.timestamp * 1000,
});

/** Null for a block above the tip. */
export const RpcBlock = lazily(() => z.object(Header()).transform(refOf).nullable());

/** A deposit on Arbitrum mints the value that it moves. A deposit on the OP Stack states how much it mints. */
const ARBITRUM_DEPOSIT = "0x64";

/** A transaction of any type: a rollup's blocks contain unsigned ones, with other fields (docs/design/chains.md 3). */
export const RpcTransaction = lazily(() =>
  z
    .object({
      hash: Hash(),
      from: Account(),
      /** Null if the transaction creates a contract. */
      to: Account().nullish(),
      value: Units(),
      gasPrice: Units().nullish(),
      type: z.string().nullish(),
      mint: Units().nullish(),
    })
    .transform(({ type, mint, ...transaction }) => {
      const mintedUnits = type === ARBITRUM_DEPOSIT ? transaction.value : (mint ?? 0n);
      /** `mintedUnits`: the amount that the deposit first credited to the sender, who keeps it even if the transaction then failed. */
      return { ...transaction, ...(mintedUnits === 0n ? {} : { mintedUnits }) };
    }),
);
export type RpcTransaction = z.infer<ReturnType<typeof RpcTransaction>>;

export interface FullBlock {
  readonly block: BlockRef;
  readonly parentHash: string;
  readonly transactions: readonly RpcTransaction[];
}

export const FullBlock = lazily(() =>
  z
    .object({ ...Header(), parentHash: Hash(), transactions: z.array(RpcTransaction()) })
    .transform((of): FullBlock => ({ block: refOf(of), parentHash: of.parentHash, transactions: of.transactions }))
    .nullable(),
);

const LogWords = lazily(() => ({ address: Account(), topics: z.array(Bytes()), data: Bytes(), logIndex: Height() }));
const ReceiptLog = lazily(() => z.object(LogWords()));
export type ReceiptLog = z.infer<ReturnType<typeof ReceiptLog>>;

/** A log of `eth_getLogs`. A node may send thousands: only logs to our recipients are parsed completely, as `LogHit`. */
export const FoundLog = lazily(() =>
  z.object({
    address: z.string(),
    topics: z.array(z.string()),
    data: z.string(),
    blockNumber: z.string(),
    blockHash: z.string(),
    transactionHash: z.string(),
    logIndex: z.string(),
    removed: z.boolean().nullish(),
  }),
);
export type FoundLog = z.infer<ReturnType<typeof FoundLog>>;

export const LogHit = lazily(() =>
  z.object({ ...LogWords(), blockNumber: Height(), blockHash: Hash(), transactionHash: Hash() }),
);
export type LogHit = z.infer<ReturnType<typeof LogHit>>;

export const RpcReceipt = lazily(() =>
  z.object({
    transactionHash: Hash(),
    blockNumber: Height(),
    blockHash: Hash(),
    status: z.string().transform((status) => status === "0x1"),
    logs: z.array(ReceiptLog()),
    gasUsed: Units(),
    effectiveGasPrice: Units().nullish(),
    /** On the OP Stack: fees for Ethereum's data and for the operator, which `gasUsed` does not include. */
    l1Fee: Units().nullish(),
    operatorFeeScalar: Units().nullish(),
    operatorFeeConstant: Units().nullish(),
  }),
);
export type RpcReceipt = z.infer<ReturnType<typeof RpcReceipt>>;

/** A height in hexadecimal, as nodes expect it. */
export const quantity = (height: number): string => numberToHex(height);
