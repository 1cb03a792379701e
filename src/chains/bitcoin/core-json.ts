// Schemas of Bitcoin Core's and Litecoin Core's answers. Amounts are JSON numbers in whole coins (also "1e-8"): only their text is exact.
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import { parseUnits } from "../../lib/money.ts";
import type { BlockRef } from "../sources/transfer.ts";
import { Count, Digits, Hash, type UtxoOutput, type UtxoTransaction } from "./utxo-transaction.ts";

const DECIMALS = 8;

/**
 * Kinds of script with exactly one address, for which a wallet can be registered. Nodes before version 22 also report addresses for other scripts,
 * but a key of a bare multisig is not an address that receives payments.
 */
const SCRIPTS: readonly string[] = [
  "pubkeyhash",
  "scripthash",
  "witness_v0_keyhash",
  "witness_v0_scripthash",
  "witness_v1_taproot",
];

const Script = lazily(() =>
  z.looseObject({
    type: z.string(),
    address: z.string().nullish(),
    /** Before version 22, and in Litecoin Core. */
    addresses: z.array(z.string()).nullish(),
  }),
);

const PaidOutput = lazily(() =>
  z
    .looseObject({ n: Digits(), value: z.string(), scriptPubKey: Script() })
    .transform((raw, context): UtxoOutput | null => {
      const units = parseUnits(raw.value, DECIMALS);
      if (!units.ok || units.value < 0n) {
        context.addIssue("the amount is missing");
        return null;
      }
      const address = addressOf(raw.scriptPubKey);
      return address === undefined ? null : { index: raw.n, address, amountUnits: units.value, raw };
    }),
);
/** MWEB outputs show neither amount nor receiver. */
const HiddenOutput = lazily(() => z.object({ ismweb: z.literal(true) }).transform(() => null));
/** A script that no wallet uses needs no other field: a new kind of script must not make a block unreadable. */
const OtherScript = lazily(() =>
  z.union([
    z.object({ type: z.string().refine((type) => !SCRIPTS.includes(type)) }),
    z.object({ address: z.null().optional(), addresses: z.null().optional() }),
  ]),
);
const OtherOutput = lazily(() => z.object({ scriptPubKey: OtherScript() }).transform(() => null));

/** An output that may pay a wallet must have all its fields. */
const Output = lazily(() => z.union([HiddenOutput(), PaidOutput(), OtherOutput()]));

/** The output that an input spends; empty for a coinbase and for inputs inside MWEB. */
const Input = lazily(() =>
  z.unknown().transform((of) => {
    const spent = Spent().safeParse(of);
    const isCoinbase = Coinbase().safeParse(of).success;
    if (!spent.success) return { spends: [], spentFrom: [], isCoinbase };
    const { txid, vout, prevout } = spent.data;
    return { spends: [`${txid}:${vout}`], spentFrom: typeof prevout === "string" ? [prevout] : [], isCoinbase };
  }),
);
const Spent = lazily(() => z.object({ txid: Hash(), vout: Digits(), prevout: CoreOwner().nullish().catch(null) }));
const Coinbase = lazily(() => z.object({ coinbase: z.string() }));

/** The address that an output pays; undefined if its script has none. */
export const CoreOwner = lazily(() =>
  z.object({ scriptPubKey: Script() }).transform(({ scriptPubKey }) => addressOf(scriptPubKey)),
);

function addressOf({ type, address, addresses }: z.infer<ReturnType<typeof Script>>): string | undefined {
  if (!SCRIPTS.includes(type)) return undefined;
  return address ?? (addresses?.length === 1 ? addresses[0] : undefined);
}

/** `block` is null, because a node returns only the block's hash, and not even that for the transactions in a block. */
export const CoreTransaction = lazily(() =>
  z
    .object({
      txid: Hash(),
      blockhash: Hash().nullish(),
      vin: z.array(Input()),
      vout: z.array(Output()),
    })
    .transform(({ txid, blockhash, vin, vout }): UtxoTransaction & { readonly blockHash: string | undefined } => ({
      txHash: txid,
      spends: vin.flatMap(({ spends }) => spends),
      spentFrom: vin.flatMap(({ spentFrom }) => spentFrom),
      isCoinbase: vin.some(({ isCoinbase }) => isCoinbase),
      outputs: vout.filter((output) => output !== null),
      block: null,
      blockHash: blockhash ?? undefined,
    })),
);

/** Whether a transaction is on the best chain or in the mempool: an index of transactions also finds it in a block that has left the chain. */
export const CoreHeld = lazily(() =>
  z
    .object({ blockhash: Hash().nullish(), confirmations: z.string().nullish() })
    .transform(({ blockhash, confirmations }) => typeof blockhash !== "string" || (confirmations ?? "0") !== "0"),
);

const Header = lazily(() => ({ hash: Hash(), height: Count(), time: Count() }));
const refOf = ({ hash, height, time }: { readonly hash: string; readonly height: number; readonly time: number }) =>
  ({ height, hash, timeMs: time * 1000 }) satisfies BlockRef;

export const CoreHeader = lazily(() =>
  z
    .object({ ...Header(), confirmations: z.string() })
    // -1 confirmations: the block is no longer on the best chain.
    .transform((of) => ({ block: refOf(of), isOnChain: !of.confirmations.startsWith("-") })),
);

export const CoreBlock = lazily(() =>
  z
    .object({ ...Header(), previousblockhash: Hash().optional(), tx: z.array(CoreTransaction()) })
    .transform((of) => ({ block: refOf(of), previousHash: of.previousblockhash, transactions: of.tx })),
);

/** An unspent output; its transaction is mined if it has confirmations. Null if the output is spent or unknown. */
export const CoreUnspent = lazily(() => z.object({ bestblock: Hash(), confirmations: Count() }).nullable());
