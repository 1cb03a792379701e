// Logs of transfers: Transfer for the tokens on the allow-list, and Polygon's LogTransfer for its native coin. Anyone can emit a log that looks like
// one; only the address of the emitting contract proves it.
import { decodeEventLog, erc20Abi, getAbiItem, isHex, pad, size, slice } from "viem";
import type { Asset } from "../registry/assets.ts";
import { checksumAddress, hexOf } from "./address.ts";
import type { ReceiptLog } from "./rpc-json.ts";

/** The hash of ERC-20's `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** The hash of Polygon's `LogTransfer`; gas fees are logged by a different event. */
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
/** The system contract that logs transfers of Polygon's native coin. */
export const POLYGON_COIN = "0x0000000000000000000000000000000000001010";

/** The recipients and assets to look for, in the nodes' lower-case form. */
export interface Wanted {
  /** 0x and 40 digits. */
  readonly recipients: ReadonlySet<string>;
  /** Contract to asset code. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Code of the native coin; null if it is not looked for. */
  readonly native: string | null;
}

/** A transfer, found in a log or as a transaction's own value. */
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
 * A token transfer to one of the recipients; the log may be in upper or lower case. Undefined for anything else: another contract, no amount or more
 * than one, an ERC-721 id as a fourth topic, amount zero.
 */
export function tokenMovement(log: Said, { recipients, tokens }: Wanted): Movement | undefined {
  const { topics } = log;
  // The check that nearly all logs fail comes first, because every transfer of a token may be read.
  if (topics.length !== 3 || !recipients.has(accountOf(topics[2] ?? "") ?? "")) return undefined;
  const code = tokens.get(log.address.toLowerCase());
  if (code === undefined) return undefined;
  const said = decoded(log);
  // 66 characters: 0x and one word. A log with more data is not from an ERC-20 token.
  if (said?.eventName !== "Transfer" || log.data.length > 66) return undefined;
  const { from, to, value } = said.args;
  return movement(code, topics[1], { from, to, units: value });
}

/**
 * A transfer of Polygon's native coin to one of the recipients, by a transaction or a contract. The node's own log of a transfer shows how much the
 * sender's balance fell. The coin's contract logs the same transfer a second time when its `transfer` is called. By then the value has left the
 * sender, so this second log shows a balance that did not fall, and counting it would count the coins twice (MRC20, `_transferFrom`).
 */
export function polygonMovement(log: Said, { recipients, native }: Wanted): Movement | undefined {
  const { topics } = log;
  if (topics.length !== 4 || !recipients.has(accountOf(topics[3] ?? "") ?? "")) return undefined;
  if (native === null || log.address.toLowerCase() !== POLYGON_COIN) return undefined;
  const said = decoded(log);
  if (said?.eventName !== "LogTransfer") return undefined;
  const { from, to, amount, input1, output1 } = said.args;
  if (input1 - output1 !== amount) return undefined;
  return movement(native, topics[2], { from, to, units: amount });
}

/** The decoded event; undefined for another event or too little data. Trailing data is ignored. */
function decoded(log: Said) {
  const [event, ...indexed] = log.topics.map((topic) => topic.toLowerCase());
  const data = log.data.toLowerCase();
  if (!isHex(event) || !indexed.every((topic) => isHex(topic)) || !isHex(data)) return undefined;
  // If the data ends within a 32-byte word, the library would decode a wrong number.
  if ((data.length - 2) % 64 !== 0) return undefined;
  try {
    return decodeEventLog({ abi: EVENTS, topics: [event, ...indexed], data });
  } catch {
    return undefined;
  }
}

/** `sender` is the whole topic: the library reads its last 20 bytes and ignores the bytes before them. */
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

/** The address in a topic, lower case; undefined if the topic is not an address. */
export function accountOf(topic: string): string | undefined {
  const hex = topic.toLowerCase();
  if (!isHex(hex) || size(hex) !== 32) return undefined;
  const account = slice(hex, 12);
  return pad(account) === hex ? account : undefined;
}

/** The address as wallets store it, with the EIP-55 checksum. */
export function spelled(account: string): string {
  return checksumAddress(account.slice(2));
}
