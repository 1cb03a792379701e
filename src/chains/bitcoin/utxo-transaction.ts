// A transaction of a Bitcoin-like chain in the form common to all sources, and its transfers. Each output to a watched address is a transfer,
// identified by transaction and output number, however often it is mined.
import * as z from "zod";
import { type Outage, outage } from "../../lib/fetch-text.ts";
import { lazily } from "../../lib/lazily.ts";
import { err, type Result } from "../../lib/result.ts";
import type { BlockRef, Transfer } from "../sources/transfer.ts";

export interface UtxoTransaction {
  readonly txHash: string;
  /** `txid:vout`; empty for a coinbase and for inputs inside MWEB. */
  readonly spends: readonly string[];
  /** Whether it is the first transaction of its block, which pays the miner and exists only in that block. */
  readonly isCoinbase: boolean;
  /** The addresses of the outputs that it spends, as far as the source reports them. */
  readonly spentFrom: readonly string[];
  /** Outputs to an address, in order. */
  readonly outputs: readonly UtxoOutput[];
  /** Null in a mempool. */
  readonly block: BlockRef | null;
}

export interface UtxoOutput {
  /** The output's number in the transaction. */
  readonly index: string;
  readonly address: string;
  readonly amountUnits: bigint;
  /** The JSON as the source returned it. */
  readonly raw: unknown;
}

/** The most inputs that are stored for a payment: one input spent by another transaction is enough to prove a replacement. */
export const MOST_SPENDS = 20;
const RAW_CHARACTERS = 4_096;
/** Confirmations that a coinbase needs before it can be spent (COINBASE_MATURITY of Bitcoin Core and Litecoin Core). */
const COINBASE_MATURITY = 100;

/** Transfers of the network's coin to the recipients; outputs without value are skipped. */
export function transfersTo(
  recipients: ReadonlySet<string>,
  cryptocurrency: string,
  { txHash, spends, spentFrom, isCoinbase, outputs, block }: UtxoTransaction,
): readonly Transfer[] {
  const paying = outputs.filter(({ address, amountUnits }) => amountUnits > 0n && recipients.has(address));
  return paying.map(({ index, address, amountUnits, raw }) => ({
    cryptocurrency,
    txHash,
    outputIndex: index,
    fromAddress: spentFrom.includes(address) ? address : null,
    toAddress: address,
    amountUnits,
    block,
    spends: block === null ? spends.slice(0, MOST_SPENDS) : [],
    raw: rawOf({ txid: txHash, vout: index, output: raw }),
    ...(isCoinbase ? { leastConfirmations: COINBASE_MATURITY } : {}),
  }));
}

function rawOf(evidence: { readonly txid: string; readonly vout: string; readonly output: unknown }): string {
  const { txid, vout } = evidence;
  const text = JSON.stringify(evidence);
  return text.length <= RAW_CHARACTERS ? text : JSON.stringify({ txid, vout, cut: true });
}

/** The outage for a block that the source has named but does not return, and for answers that do not fit into one chain. */
export function behind(): Result<never, Outage> {
  return err(outage("BEHIND", "the source's chain does not have a block, or no longer has it"));
}

/** Hash of a block or a transaction. */
export const Hash = lazily(() => z.string().regex(/^[0-9a-f]{64}$/));
/** A height, an output's number or a time, parsed as text. */
export const Digits = lazily(() => z.string().regex(/^(0|[1-9]\d{0,9})$/));
export const Count = lazily(() => Digits().transform(Number));
/** An amount in base units. */
export const Units = lazily(() =>
  z
    .string()
    .regex(/^\d{1,18}$/)
    .transform(BigInt),
);
