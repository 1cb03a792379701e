// Schemas of Esplora's HTTP API. Amounts are satoshi.
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import type { BlockRef } from "../sources/transfer.ts";
import { Count, Digits, Hash, Units, type UtxoOutput, type UtxoTransaction } from "./utxo-transaction.ts";

const Status = lazily(() =>
  z
    .object({
      confirmed: z.boolean(),
      block_height: Count().nullish(),
      block_hash: Hash().nullish(),
      block_time: Count().nullish(),
    })
    .transform(({ confirmed, ...of }, context): BlockRef | null => {
      const { block_height: height, block_hash: hash, block_time: time } = of;
      if (!confirmed) return null;
      if (typeof height === "number" && typeof hash === "string" && typeof time === "number")
        return { height, hash, timeMs: time * 1000 };
      context.addIssue("confirmed, but the block is missing");
      return null;
    }),
);

/** If the script has no address, no other field is required. */
const Output = lazily(() =>
  z.looseObject({ scriptpubkey_address: z.string().nullish(), value: z.unknown().optional() }),
);

export const EsploraTransaction = lazily(() =>
  z
    .object({
      txid: Hash(),
      status: Status(),
      vin: z.array(z.object({ txid: Hash(), vout: Digits(), is_coinbase: z.boolean(), prevout: Output().nullish() })),
      vout: z.array(Output()),
    })
    .transform(({ txid, status, vin, vout }, context): UtxoTransaction => {
      const outputs = vout.flatMap((raw, index): UtxoOutput[] => {
        const address = raw.scriptpubkey_address ?? undefined;
        if (address === undefined) return [];
        const units = Units().safeParse(raw.value);
        if (!units.success) context.addIssue("the amount is missing");
        if (!units.success) return [];
        return [{ index: String(index), address, amountUnits: units.data, raw }];
      });
      const spends = vin.flatMap((input) => (input.is_coinbase ? [] : [`${input.txid}:${input.vout}`]));
      const spentFrom = vin.flatMap(({ prevout }) => prevout?.scriptpubkey_address ?? []);
      const isCoinbase = vin.some((input) => input.is_coinbase);
      return { txHash: txid, spends, spentFrom, isCoinbase, outputs, block: status };
    }),
);

export const EsploraBlock = lazily(() =>
  z
    .object({ id: Hash(), height: Count(), timestamp: Count() })
    .transform((of): BlockRef => ({ height: of.height, hash: of.id, timeMs: of.timestamp * 1000 })),
);

/** The txid of the transaction that spends an output; null if it is unspent. */
export const EsploraOutspend = lazily(() =>
  z
    .object({ spent: z.boolean(), txid: Hash().nullish() })
    .transform(({ spent, txid }) => (spent ? (txid ?? null) : null)),
);
