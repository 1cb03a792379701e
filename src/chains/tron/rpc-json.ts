// Schemas of java-tron's `/jsonrpc`. It differs from Ethereum's: block hashes begin with the height, nonces are empty, and a transaction's `value` is
// the amount of anything that its contract moves: TRX, but also a worthless TRC-10 token or votes.
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import type { BlockRef } from "../sources/transfer.ts";
import type { ReceiptLog } from "./token-logs.ts";
import { bareHash } from "./tron-hex.ts";

export const Height = lazily(() =>
  z
    .string()
    .regex(/^0x[0-9a-f]{1,12}$/i)
    .transform(Number),
);
const Hash = lazily(() =>
  z.string().transform((text, context) => {
    const hash = bareHash(text);
    if (hash === undefined) context.addIssue("the hash is missing");
    return hash ?? "";
  }),
);

const Header = lazily(() => ({ number: Height(), hash: Hash(), timestamp: Height() }));
/** Timestamps are in seconds; null for a block above the tip. */
export const RpcBlock = lazily(() =>
  z
    .object(Header())
    .transform((of): BlockRef => ({ height: of.number, hash: of.hash, timeMs: of.timestamp * 1000 }))
    .nullable(),
);

export const RpcTransaction = lazily(() =>
  z.object({ hash: Hash(), to: z.string().nullish(), value: z.string().nullish() }),
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
    .transform((of) => ({
      block: { height: of.number, hash: of.hash, timeMs: of.timestamp * 1000 } satisfies BlockRef,
      parentHash: of.parentHash,
      transactions: of.transactions,
    }))
    .nullable(),
);

export interface Receipt {
  readonly txHash: string;
  readonly height: number;
  readonly blockHash: string;
  readonly isSuccess: boolean;
  readonly logs: readonly ReceiptLog[];
}

export const RpcReceipt = lazily(() =>
  z
    .object({
      transactionHash: Hash(),
      blockNumber: Height(),
      blockHash: Hash(),
      status: z.string(),
      logs: z.array(z.object({ address: z.string(), topics: z.array(z.string()), data: z.string() })),
    })
    .transform(
      (of): Receipt => ({
        txHash: of.transactionHash,
        height: of.blockNumber,
        blockHash: of.blockHash,
        isSuccess: of.status === "0x1",
        logs: of.logs,
      }),
    )
    .nullable(),
);

/** Whether a transaction may move TRX to one of `accounts`, 40 digits each: `value` may also belong to a different kind of contract. */
export function mayPay({ to, value }: RpcTransaction, accounts: ReadonlySet<string>): boolean {
  return accounts.has((to ?? "").toLowerCase().slice(-40)) && /^0x(?=0*[1-9a-f])[0-9a-f]{1,64}$/i.test(value ?? "");
}
