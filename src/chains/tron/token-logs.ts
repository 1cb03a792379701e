// Token transfers from the logs of one transaction. Both of TRON's APIs list logs in the same order, so the ordinal within the receipt, which
// identifies the transfer, is the same in both.

import type { Asset } from "../registry/assets.ts";
import type { BlockRef, Transfer } from "../sources/transfer.ts";
import { addressOfHex, hexOfAddress } from "./tron-hex.ts";

/** keccak-256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** A log of a receipt, hexadecimal with or without 0x; the HTTP API may leave out an empty list or text. */
export interface ReceiptLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

interface LogContext {
  readonly txHash: string;
  readonly block: BlockRef;
  readonly recipients: ReadonlySet<string>;
  readonly assets: readonly Asset[];
}

/** Transfers of the assets to the recipients, found in all logs of a transaction that succeeded. */
export function tokenTransfers(logs: readonly ReceiptLog[], of: LogContext): readonly Transfer[] {
  return logs.flatMap((log, ordinal): Transfer[] => {
    const transfer = transferOf(log, of);
    return transfer === undefined ? [] : [{ ...transfer, outputIndex: String(ordinal) }];
  });
}

function transferOf(log: ReceiptLog, { txHash, block, recipients, assets }: LogContext): Transfer | undefined {
  const contract = addressOfHex(log.address);
  const asset = assets.find((each) => each.contract !== null && each.contract === contract);
  const [topic, from, to, more] = log.topics.map(bare);
  if (asset === undefined || topic !== TRANSFER_TOPIC || from === undefined || to === undefined) return undefined;
  // A fourth topic is an ERC-721 id. The amount is one word; anything else is a different event.
  if (more !== undefined || !/^[0-9a-f]{64}$/.test(bare(log.data))) return undefined;
  const [fromAddress, toAddress] = [addressOfTopic(from), addressOfTopic(to)];
  const amountUnits = BigInt(`0x${bare(log.data)}`);
  if (fromAddress === undefined || toAddress === undefined) return undefined;
  if (!recipients.has(toAddress) || amountUnits === 0n) return undefined;
  return {
    cryptocurrency: asset.code,
    txHash,
    outputIndex: "",
    fromAddress,
    toAddress,
    amountUnits,
    block,
    spends: [],
    raw: JSON.stringify(log),
  };
}

/** An address as a 32-byte topic. */
export function topicOfAddress(address: string): string | undefined {
  const account = hexOfAddress(address);
  return account === undefined ? undefined : account.padStart(64, "0");
}

function addressOfTopic(topic: string): string | undefined {
  const account = /^0{24}([0-9a-f]{40})$/.exec(topic)?.[1];
  return account === undefined ? undefined : addressOfHex(account);
}

function bare(hex: string): string {
  return hex.toLowerCase().replace(/^0x/, "");
}
