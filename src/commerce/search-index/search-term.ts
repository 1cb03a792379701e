// Converts what a merchant's user typed or pasted into the search field to ranges of indexes. Words are matched only from their beginning, so that a
// search costs the same however many rows there are.
import { NETWORKS, type Network } from "../../chains/registry/networks.ts";
import { addressOfHex } from "../../chains/tron/tron-hex.ts";
import { emailKeyOf } from "../../lib/email.ts";
import { MICRO_DIGITS, parseUnits } from "../../lib/money.ts";
import { prefixEnd } from "../../lib/text-prefix.ts";
import { wordsOf } from "./words.ts";

/** The maximum number of results of each kind. */
export const MOST_FOUND = 8;

/** The ways in which a search finds an item, best first. */
export const INVOICE_MATCHES = [
  "ID",
  "EXTERNAL_ID",
  "TRANSACTION",
  "ADDRESS",
  "EMAIL",
  "NAME",
  "CUSTOMER_NAME",
  "AMOUNT",
] as const;
export const CUSTOMER_MATCHES = ["ID", "EMAIL", "NAME"] as const;
export const PAYMENT_MATCHES = ["ID", "TRANSACTION"] as const;

/** Strings from `from` (inclusive) to `below` (exclusive), by code points. */
interface TextRange {
  readonly from: string;
  readonly below: string;
}

/** Lists of ranges. An empty list means that the text cannot be of that kind. */
export interface SearchTerms {
  readonly text: string;
  readonly invoiceIds: readonly TextRange[];
  readonly customerIds: readonly TextRange[];
  readonly paymentIds: readonly TextRange[];
  /** As typed: external ids that differ in case are different. */
  readonly externalIds: readonly TextRange[];
  /** In lower case. */
  readonly emails: readonly TextRange[];
  /** A match must contain all of them. */
  readonly words: readonly TextRange[];
  readonly transactions: readonly (TextRange & { readonly network: string })[];
  /** In lower case. */
  readonly addresses: readonly TextRange[];
  /** `currency` is null if none was typed. */
  readonly amounts: readonly { readonly micros: number; readonly currency: string | null }[];
}

/**
 * The shortest part of an id that is searched for, after its prefix: the time, the database, and four random characters. Ids are indexed over all
 * merchants, and two ids hardly ever have this much in common.
 */
const ID_LENGTH = 16;
const ID = /^(inv|cus|pay)_([0-9a-z]{1,26})$/i;
const HASH = /^(?:0x)?([0-9a-f]{6,64})$/i;
const ADDRESS = /^[0-9a-z]{6,100}$/i;
const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;
/** The name of a balance's growth, in place of a hash: coins that a contract sent, without a transaction (transfer.ts). */
const GROWTH = /^block:\d{1,15}$/i;

export function searchTerms(typed: string): SearchTerms {
  const text = typed.trim();
  return {
    text,
    invoiceIds: idRanges("inv", text),
    customerIds: idRanges("cus", text),
    paymentIds: idRanges("pay", text),
    externalIds: beginningWith(text),
    emails: beginningWith(emailKeyOf(text)),
    // SQLite's text functions stop at a NUL character.
    words: text.includes("\0") ? [] : wordsOf(text).flatMap(beginningWith),
    transactions: transactionRanges(text),
    addresses: addressRanges(text.toLowerCase()),
    amounts: amountsOf(text),
  };
}

function beginningWith(text: string): readonly TextRange[] {
  const below = prefixEnd(text);
  return text === "" || below === undefined ? [] : [{ from: text, below }];
}

function idRanges(prefix: "inv" | "cus" | "pay", text: string): readonly TextRange[] {
  const [, kind, rest = ""] = ID.exec(text) ?? [];
  if (kind?.toLowerCase() !== prefix || rest.length < ID_LENGTH) return [];
  return beginningWith(`${prefix}_${rest.toUpperCase()}`);
}

function transactionRanges(text: string): SearchTerms["transactions"] {
  if (GROWTH.test(text)) return onNetworks("evm", text.toLowerCase());
  const [, digits] = HASH.exec(text) ?? [];
  // A whole address is not the beginning of a hash, and searching for it as a hash would read every network.
  if (digits === undefined || EVM_ADDRESS.test(text)) return [];
  const hash = digits.toLowerCase();
  // Bitcoin and Litecoin hashes are never written with 0x; TRON's are written both ways.
  const bare = /^0x/i.test(text) ? [] : onNetworks("bitcoin", hash);
  return [...onNetworks("evm", `0x${hash}`), ...bare, ...onNetworks("tron", hash)];
}

function onNetworks(family: Network["family"], start: string): SearchTerms["transactions"] {
  const networks = NETWORKS.filter((network) => network.family === family);
  return beginningWith(start).flatMap((range) => networks.map(({ name }) => ({ network: name, ...range })));
}

/** Stored addresses of EVM networks begin with 0x. TRON addresses are stored as base58, but may be typed in hexadecimal. */
function addressRanges(text: string): readonly TextRange[] {
  if (!ADDRESS.test(text)) return [];
  const tron = /^(?:0x)?(41[0-9a-f]{40})$/.exec(text)?.[1];
  const tronAddress = tron === undefined ? undefined : addressOfHex(tron);
  return [
    ...beginningWith(text),
    ...(/^[0-9a-f]{6,40}$/.test(text) ? beginningWith(`0x${text}`) : []),
    ...(tronAddress === undefined ? [] : beginningWith(tronAddress.toLowerCase())),
  ];
}

/** `1234.5`, `1,234.50` or `1.234,50`, with a currency sign or code on either side. In `1,234` the comma groups thousands. */
const AMOUNT = /^([a-z]{3,5})?\s*\p{Sc}?\s*(\d[\d.,]{0,24})\s*\p{Sc}?\s*([a-z]{3,5})?$/iu;
const WITH_POINT = /^(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/;
const WITH_COMMA = /^(?:\d+|\d{1,3}(?:\.\d{3})+),\d{1,2}$/;
/** The largest amount that an invoice may ask for. */
const MOST_MICROS = 1_000_000_000_000n;

function amountsOf(text: string): SearchTerms["amounts"] {
  const [, before, number = "", after] = AMOUNT.exec(text) ?? [];
  if (before !== undefined && after !== undefined) return [];
  const decimal = WITH_COMMA.test(number) ? number.replaceAll(".", "").replace(",", ".") : number.replaceAll(",", "");
  if (!WITH_COMMA.test(number) && !WITH_POINT.test(number)) return [];
  const micros = parseUnits(decimal, MICRO_DIGITS);
  if (!micros.ok || micros.value > MOST_MICROS) return [];
  return [{ micros: Number(micros.value), currency: (before ?? after)?.toUpperCase() ?? null }];
}
