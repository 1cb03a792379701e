// Logs that say that money moved: Transfer of the tokens on the allow-list, and Polygon's LogTransfer of its native coin. Anybody
// can make a log that looks like one: only the address of its contract tells.
import { decodeEventLog, erc20Abi, getAbiItem, isHex, pad, size, slice } from "viem";
import type { Asset } from "../assets.ts";
import { checksumAddress } from "./address.ts";
import { hexOf } from "./hex.ts";
import type { ReceiptLog } from "./rpc-json.ts";

/** Of ERC-20. */
export const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** Of Polygon's `LogTransfer`; gas fees have a separate event. */
export const LOG_TRANSFER_TOPIC = "0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4";
const EVENTS = [
  getAbiItem({ abi: erc20Abi, name: "Transfer" }),
  {
    type: "event",
    name: "LogTransfer",
    inputs: [
      { name: "token", type: "address", indexed: true },
      { name: "from", type: "address", indexed: true },
      { name: "to", type: "address", indexed: true },
      { name: "amount", type: "uint256" },
      { name: "input1", type: "uint256" },
      { name: "input2", type: "uint256" },
      { name: "output1", type: "uint256" },
      { name: "output2", type: "uint256" },
    ],
  },
] as const;
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
  const { topics } = log;
  // First the check that nearly all logs fail, because every transfer of a token may be read.
  if (topics.length !== 3 || !recipients.has(accountOf(topics[2] ?? "") ?? "")) return undefined;
  const code = tokens.get(log.address.toLowerCase());
  if (code === undefined) return undefined;
  const said = decoded(log);
  // 0x and one word: with more it is no ERC-20's.
  if (said?.eventName !== "Transfer" || log.data.length > 66) return undefined;
  const { from, to, value } = said.args;
  return movement(code, topics[1], { from, to, units: value });
}

/** Polygon's native coin to one of the recipients, by whatever it was moved. The amount is the first of five words. */
export function polygonMovement(log: Said, { recipients, native }: Wanted): Movement | undefined {
  const { topics } = log;
  if (topics.length !== 4 || !recipients.has(accountOf(topics[3] ?? "") ?? "")) return undefined;
  if (native === null || log.address.toLowerCase() !== POLYGON_COIN) return undefined;
  const said = decoded(log);
  if (said?.eventName !== "LogTransfer") return undefined;
  const { from, to, amount } = said.args;
  return movement(native, topics[2], { from, to, units: amount });
}

/** The event and what it says; undefined for another event, or for less data than the event has. What is behind the data is ignored. */
function decoded(log: Said) {
  const [event, ...indexed] = log.topics.map((topic) => topic.toLowerCase());
  const data = log.data.toLowerCase();
  if (!isHex(event) || !indexed.every((topic) => isHex(topic)) || !isHex(data)) return undefined;
  // The library would shift the digits of data that are cut within a word.
  if ((data.length - 2) % 64 !== 0) return undefined;
  try {
    return decodeEventLog({ abi: EVENTS, topics: [event, ...indexed], data });
  } catch {
    return undefined;
  }
}

/** `sender`: the topic, of which the library reads the last 20 bytes whatever is before them. */
function movement(
  cryptocurrency: string,
  sender: string | undefined,
  { from, to, units }: Pick<Movement, "from" | "to" | "units">,
): Movement | undefined {
  if (sender === undefined || accountOf(sender) === undefined || units === 0n) return undefined;
  return { cryptocurrency, from: from.toLowerCase(), to: to.toLowerCase(), units };
}

/** An address as a topic of 32 bytes. */
export function topicOf(account: string): string {
  return pad(hexOf(account.toLowerCase()));
}

/** The address in a topic, lower case; undefined where the topic is no address. */
export function accountOf(topic: string): string | undefined {
  const hex = topic.toLowerCase();
  if (!isHex(hex) || size(hex) !== 32) return undefined;
  const account = slice(hex, 12);
  return pad(account) === hex ? account : undefined;
}

/** The spelling that wallets are stored in. */
export function spelled(account: string): string {
  return checksumAddress(account.slice(2));
}
