// Logs that say that money moved (chains.md 2): Transfer of the tokens on the allow-list, and Polygon's LogTransfer of its native coin. Anybody
// can make a log that looks like one: only the address of its contract tells.
import type { Asset } from "../assets.ts";
import { checksumAddress } from "./address.ts";
import type { ReceiptLog } from "./rpc-json.ts";

/** keccak-256 of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** Of Polygon's `LogTransfer`; gas fees have a separate event. */
export const LOG_TRANSFER_TOPIC = "0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4";
/** Where Polygon keeps its native coin. */
export const POLYGON_COIN = "0x0000000000000000000000000000000000001010";

/** Who and what is looked for, by the lower-case spelling of nodes. */
export interface Wanted {
  /** 0x and 40 digits. */
  readonly recipients: ReadonlySet<string>;
  /** Contract to asset code. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Code of the native coin; null where it is not looked for. */
  readonly native: string | null;
}

/** What one log says. */
export interface Movement {
  readonly cryptocurrency: string;
  readonly from: string;
  readonly to: string;
  readonly units: bigint;
}

export function wantedOf(recipients: ReadonlySet<string>, assets: readonly Asset[]): Wanted {
  const tokens = assets.flatMap(({ contract, code }): [string, string][] =>
    contract === null ? [] : [[contract.toLowerCase(), code]],
  );
  return {
    recipients: new Set([...recipients].map((address) => address.toLowerCase())),
    tokens: new Map(tokens),
    native: assets.find(({ contract }) => contract === null)?.code ?? null,
  };
}

type Said = Pick<ReceiptLog, "address" | "topics" | "data">;

/**
 * A transfer of a token to one of the recipients, in any case of letters; undefined for all else: another contract, no amount or more than
 * one, an ERC-721's id as a fourth topic, nothing moved.
 */
export function tokenMovement(log: Said, { recipients, tokens }: Wanted): Movement | undefined {
  const [topic, from, to] = log.topics;
  if (log.topics.length !== 3 || from === undefined || to === undefined) return undefined;
  // First the check that nearly all logs fail, because every transfer of a token may be read.
  const recipient = accountOf(to);
  if (recipient === undefined || !recipients.has(recipient)) return undefined;
  const code = tokens.get(log.address.toLowerCase());
  if (code === undefined || topic?.toLowerCase() !== TRANSFER_TOPIC || !/^0x[0-9a-f]{64}$/i.test(log.data))
    return undefined;
  return movement(code, { from, recipient, units: BigInt(log.data) });
}

/** Polygon's native coin to one of the recipients, by whatever it was moved. The amount is the first of five words. */
export function polygonMovement(log: Said, { recipients, native }: Wanted): Movement | undefined {
  const [topic, , from, to] = log.topics;
  if (log.topics.length !== 4 || from === undefined || to === undefined || native === null) return undefined;
  const recipient = accountOf(to);
  if (recipient === undefined || !recipients.has(recipient)) return undefined;
  const isCoin = log.address.toLowerCase() === POLYGON_COIN && topic?.toLowerCase() === LOG_TRANSFER_TOPIC;
  if (!isCoin || !/^0x([0-9a-f]{64})+$/i.test(log.data)) return undefined;
  return movement(native, { from, recipient, units: BigInt(log.data.slice(0, 66)) });
}

function movement(
  cryptocurrency: string,
  of: { readonly from: string; readonly recipient: string; readonly units: bigint },
): Movement | undefined {
  const from = accountOf(of.from);
  if (from === undefined || of.units === 0n) return undefined;
  return { cryptocurrency, from, to: of.recipient, units: of.units };
}

/** An address as a topic of 32 bytes. */
export function topicOf(account: string): string {
  return `0x${account.slice(2).padStart(64, "0").toLowerCase()}`;
}

/** The address in a topic, lower case; undefined where the topic is no address. */
export function accountOf(topic: string): string | undefined {
  return /^0x0{24}[0-9a-f]{40}$/i.test(topic) ? `0x${topic.slice(26).toLowerCase()}` : undefined;
}

/** The spelling that wallets are stored in. */
export function spelled(account: string): string {
  return checksumAddress(account.slice(2));
}
