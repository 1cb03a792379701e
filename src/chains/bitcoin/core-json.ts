// What Bitcoin Core and Litecoin Core say, parsed. Amounts are JSON numbers of the coin ("1e-8" is one of them): exact only from their text.
import * as z from "zod";
import { parseUnits } from "../../lib/money.ts";
import type { BlockRef } from "../../payments/transfer.ts";
import { Count, Digits, Hash, type UtxoOutput, type UtxoTransaction } from "./utxo-transaction.ts";

const DECIMALS = 8;

/**
 * Scripts that have one address, and whose address is what wallets are registered with (chains.md 5). Before version 22 nodes name addresses
 * for others as well: one of a bare multisig's keys is not the one who is paid.
 */
const SCRIPTS: readonly string[] = [
  "pubkeyhash",
  "scripthash",
  "witness_v0_keyhash",
  "witness_v0_scripthash",
  "witness_v1_taproot",
];

const Script = z.looseObject({
  type: z.string(),
  address: z.string().optional(),
  /** Before version 22, and in Litecoin Core. */
  addresses: z.array(z.string()).optional(),
});

/** An output inside MWEB shows neither amount nor receiver; any other must have both. */
const Output = z
  .looseObject({
    ismweb: z.boolean().optional(),
    n: Digits.optional(),
    value: z.string().optional(),
    scriptPubKey: Script.optional(),
  })
  .transform((raw, context): UtxoOutput | null => {
    const { ismweb, n: index, value = "", scriptPubKey: script } = raw;
    if (ismweb === true) return null;
    const units = parseUnits(value, DECIMALS);
    if (index === undefined || script === undefined || !units.ok || units.value < 0n) {
      context.addIssue("no output");
      return null;
    }
    const address = addressOf(script);
    return address === undefined ? null : { index, address, amountUnits: units.value, raw };
  });

function addressOf({ type, address, addresses = [] }: z.infer<typeof Script>): string | undefined {
  if (!SCRIPTS.includes(type)) return undefined;
  return address ?? (addresses.length === 1 ? addresses[0] : undefined);
}

/** Its `block` is null: a node tells the hash alone, and a block's transactions not even that. */
export const CoreTransaction = z
  .object({
    txid: Hash,
    blockhash: Hash.optional(),
    vin: z.array(z.object({ txid: Hash.optional(), vout: Digits.optional() })),
    vout: z.array(Output),
  })
  .transform(({ txid, blockhash, vin, vout }): UtxoTransaction & { readonly blockHash: string | undefined } => ({
    txHash: txid,
    spends: vin.flatMap(({ txid: of, vout: index }) =>
      of === undefined || index === undefined ? [] : [`${of}:${index}`],
    ),
    outputs: vout.filter((output) => output !== null),
    block: null,
    blockHash: blockhash,
  }));

const Header = { hash: Hash, height: Count, time: Count };
const refOf = ({ hash, height, time }: { readonly hash: string; readonly height: number; readonly time: number }) =>
  ({ height, hash, timeMs: time * 1000 }) satisfies BlockRef;

export const CoreHeader = z
  .object({ ...Header, confirmations: z.string() })
  // -1 is a block that the best chain has left.
  .transform((of) => ({ block: refOf(of), isOnChain: !of.confirmations.startsWith("-") }));

export const CoreBlock = z
  .object({ ...Header, previousblockhash: Hash.optional(), tx: z.array(CoreTransaction) })
  .transform((of) => ({ block: refOf(of), previousHash: of.previousblockhash, transactions: of.tx }));

/** An output that nobody spent, of a transaction that is mined where it has confirmations. */
export const CoreUnspent = z.object({ bestblock: Hash, confirmations: Count }).nullable();
