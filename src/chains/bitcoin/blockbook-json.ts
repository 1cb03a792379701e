// Schemas of Blockbook's API v2. Amounts are satoshi as text. Blockbook leaves out fields that are empty or zero.
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import type { BlockRef } from "../sources/transfer.ts";
import { Count, Digits, Hash, Units, type UtxoOutput, type UtxoTransaction } from "./utxo-transaction.ts";

/** `addresses` may also hold the text of an OP_RETURN or the keys of a bare multisig; `isAddress` marks a real address. */
const Output = lazily(() =>
  z.looseObject({
    value: z.string().optional(),
    n: Digits().optional(),
    addresses: z.array(z.string()).nullish(),
    isAddress: z.boolean().optional(),
    spentTxId: Hash().optional(),
  }),
);

export const BlockbookTransaction = lazily(() =>
  z
    .object({
      txid: Hash(),
      vin: z.array(
        z.object({
          txid: Hash().optional(),
          vout: Digits().optional(),
          coinbase: z.string().optional(),
          addresses: z.array(z.string()).nullish(),
        }),
      ),
      vout: z.array(Output()),
      blockHash: Hash().optional(),
      /** -1 in a mempool. */
      blockHeight: z.string().optional(),
      /** For an unconfirmed transaction: when Blockbook first saw it. */
      blockTime: Count().optional(),
    })
    .transform((of, context): UtxoTransaction & { readonly spenders: readonly (string | undefined)[] } => {
      const outputs = of.vout.flatMap((raw, place): UtxoOutput[] => {
        const { n: index = String(place), value = "0", addresses, isAddress = false } = raw;
        const units = Units().safeParse(value);
        if (!units.success) context.addIssue("the amount is missing");
        const [address, more] = addresses ?? [];
        if (!units.success || !isAddress || address === undefined || more !== undefined) return [];
        return [{ index, address, amountUnits: units.data, raw }];
      });
      const block = blockOf(of);
      if (block === undefined) context.addIssue("mined, but the block is missing");
      return {
        txHash: of.txid,
        spends: of.vin.flatMap(({ txid, vout = "0" }) => (txid === undefined ? [] : [`${txid}:${vout}`])),
        isCoinbase: of.vin.some(({ coinbase }) => coinbase !== undefined),
        spentFrom: of.vin.flatMap(({ addresses }) => addresses ?? []),
        outputs,
        block: block ?? null,
        spenders: of.vout.map(({ spentTxId }) => spentTxId),
      };
    }),
);

interface Mined {
  readonly blockHash?: string | undefined;
  readonly blockHeight?: string | undefined;
  readonly blockTime?: number | undefined;
}

/** Null if unconfirmed; undefined if the answer has only some of the block's fields. */
function blockOf({ blockHash: hash, blockHeight, blockTime }: Mined): BlockRef | null | undefined {
  const height = Count().safeParse(blockHeight);
  const isHigh = height.success && height.data > 0;
  if (hash === undefined) return isHigh ? undefined : null;
  return isHigh && blockTime !== undefined ? { height: height.data, hash, timeMs: blockTime * 1000 } : undefined;
}

/** `itemsOnPage` is the page size for mined transactions; unconfirmed ones come before them on the first page. */
export const BlockbookHistory = lazily(() =>
  z.object({
    page: Count().optional(),
    itemsOnPage: Count().optional(),
    transactions: z.array(BlockbookTransaction()).nullish(),
  }),
);

/** The block hash at a height; empty or absent above the tip. */
export const BlockbookHash = lazily(() =>
  z
    .object({ blockHash: z.union([Hash(), z.literal("")]).optional() })
    .transform(({ blockHash }) => (blockHash === undefined || blockHash === "" ? null : blockHash)),
);

export const BlockbookBlock = lazily(() =>
  z
    .object({ hash: Hash(), height: Count().optional(), time: Count() })
    .transform((of): BlockRef => ({ height: of.height ?? 0, hash: of.hash, timeMs: of.time * 1000 })),
);

export const BlockbookStatus = lazily(() =>
  z
    .object({ blockbook: z.object({ bestHeight: Count().optional(), initialSync: z.boolean().optional() }) })
    .transform(({ blockbook }) => ({
      bestHeight: blockbook.bestHeight ?? 0,
      isSyncing: blockbook.initialSync === true,
    })),
);
