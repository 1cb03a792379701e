// What one mined transaction pays to the recipients. Scans and lookups of a single transaction both use this, so that a transfer has the same
// identity either way, and also when it is mined again in another block or position.
import { numberToHex } from "viem/utils";
import type { BlockRef, Transfer } from "../sources/transfer.ts";
import type { ReceiptLog, RpcReceipt, RpcTransaction } from "./rpc-json.ts";
import { type Movement, polygonMovement, spelled, tokenMovement, type Wanted } from "./token-log.ts";

interface Mined {
  readonly receipt: RpcReceipt;
  /** Null if only tokens are looked for. */
  readonly transaction: RpcTransaction | null;
  readonly block: BlockRef;
}

/** The `outputIndex` of a transfer that is the transaction's own value. */
const NATIVE = "native";

/** Empty for a reverted transaction. `isLogged`: the chain logs every transfer of its native coin (Polygon). */
export function minedTransfers(mined: Mined, wanted: Wanted, isLogged: boolean): readonly Transfer[] {
  const { receipt, transaction, block } = mined;
  if (!receipt.status) return [];
  const txHash = receipt.transactionHash;
  const logged = receipt.logs.flatMap((log, ordinal) => {
    const move = tokenMovement(log, wanted);
    return move === undefined
      ? []
      : [transferOf(move, { txHash, block, outputIndex: String(ordinal), raw: rawOf(log) })];
  });
  if (transaction === null || wanted.native === null) return logged;
  const native = isLogged ? polygonTransfers(mined, transaction, wanted) : valueTransfer(mined, transaction, wanted);
  return [...logged, ...native];
}

/** The transfer of a transaction's own value; undefined if it is zero, does not go to a recipient, or the native coin is not looked for. */
export function valueMovement(
  { from, to, value }: RpcTransaction,
  { recipients, native }: Wanted,
): Movement | undefined {
  if (native === null || value === 0n || to == null || !recipients.has(to)) return undefined;
  return { cryptocurrency: native, from, to, units: value };
}

function valueTransfer({ receipt, block }: Mined, transaction: RpcTransaction, wanted: Wanted): readonly Transfer[] {
  const move = valueMovement(transaction, wanted);
  if (move === undefined) return [];
  const raw = rawOf(transaction);
  return [transferOf(move, { txHash: receipt.transactionHash, block, outputIndex: NATIVE, raw })];
}

/**
 * Reads logs, because contracts move the coin too, perhaps several times in one transaction. The first log that matches the transaction's own
 * value is "native", as on every chain. The others are identified by their ordinal in the receipt, like token logs.
 */
function polygonTransfers(
  { receipt, block }: Mined,
  { from, to, value }: RpcTransaction,
  wanted: Wanted,
): readonly Transfer[] {
  const txHash = receipt.transactionHash;
  const moves = receipt.logs.flatMap((log, ordinal) => {
    const move = polygonMovement(log, wanted);
    return move === undefined ? [] : [{ log, ordinal, move }];
  });
  const own = moves.find(({ move }) => move.from === from && move.to === to && move.units === value);
  return moves.map(({ log, ordinal, move }) => {
    const outputIndex = ordinal === own?.ordinal ? NATIVE : String(ordinal);
    return transferOf(move, { txHash, block, outputIndex, raw: rawOf(log) });
  });
}

function transferOf(move: Movement, of: Pick<Transfer, "txHash" | "block" | "outputIndex" | "raw">): Transfer {
  return {
    ...of,
    cryptocurrency: move.cryptocurrency,
    fromAddress: spelled(move.from),
    toAddress: spelled(move.to),
    amountUnits: move.units,
    spends: [],
  };
}

/** JSON of a few hundred bytes: a log that we read has at most four topics and five words, and a transaction's input is left out. */
function rawOf(of: ReceiptLog | RpcTransaction): string {
  return JSON.stringify(of, (_, value) => (typeof value === "bigint" ? numberToHex(value) : value));
}
