// What a merchant's user may have typed or pasted into one search field, as the ranges of indexes in which it can be found. Nothing is looked for
// in the middle of a text, so that a search costs the same however much there is to search.
import { checksumAddress } from "../../chains/evm/address.ts";
import { NETWORKS, type Network } from "../../chains/networks.ts";
import { addressOfHex } from "../../chains/tron/tron-hex.ts";
import { emailKeyOf } from "../../lib/email.ts";
import { prefixEnd } from "../../lib/text-prefix.ts";

/** The most that a search returns of each kind. */
export const MOST_FOUND = 8;

/** How something was found, best first. */
export const INVOICE_MATCHES = ["ID", "EXTERNAL_ID", "TRANSACTION", "ADDRESS", "EMAIL"] as const;
export const CUSTOMER_MATCHES = ["ID", "EMAIL", "NAME"] as const;
export const PAYMENT_MATCHES = ["ID", "TRANSACTION"] as const;

/** Texts from `from` to below `below`, by code points. */
export interface TextRange {
  readonly from: string;
  readonly below: string;
}

/** Lists of ranges; where a list is empty, the text cannot be what the list is for. */
export interface SearchTerms {
  readonly text: string;
  readonly invoiceIds: readonly TextRange[];
  readonly customerIds: readonly TextRange[];
  readonly paymentIds: readonly TextRange[];
  /** As typed: external ids that differ in case are different. */
  readonly externalIds: readonly TextRange[];
  /** In lower case. */
  readonly emails: readonly TextRange[];
  /** As typed, and with capitals where names have them. */
  readonly names: readonly TextRange[];
  readonly transactions: readonly (TextRange & { readonly network: string })[];
  readonly addresses: readonly { readonly network: string; readonly address: string }[];
}

/**
 * The shortest part of an id that is looked for, after its prefix: time, database, and four random characters. Ids are indexed over all merchants,
 * and of those that share this much there are hardly ever two.
 */
const ID_LENGTH = 16;
const ID = /^(inv|cus|pay)_([0-9a-z]{1,26})$/i;
/** Shorter texts are more often order numbers. */
const HASH = /^(?:0x)?([0-9a-f]{8,64})$/i;
/** The name of coins that a contract sent, which have no transaction (transfer.ts). */
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
    names: [...new Set([text, capitalised(text)])].flatMap(beginningWith),
    transactions: transactionRanges(text),
    addresses: NETWORKS.flatMap((network) => {
      const address = addressText(network, text);
      return address === undefined ? [] : [{ network: network.name, address }];
    }),
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

/** "anna o'neil" as "Anna O'Neil". */
function capitalised(text: string): string {
  return text.replace(/(?<![\p{L}\p{M}\p{N}])\p{L}/gu, (letter) => letter.toUpperCase());
}

function transactionRanges(text: string): SearchTerms["transactions"] {
  if (GROWTH.test(text)) return onNetworks("evm", text.toLowerCase());
  const [, digits] = HASH.exec(text) ?? [];
  if (digits === undefined) return [];
  const hash = digits.toLowerCase();
  return [...onNetworks("evm", `0x${hash}`), ...onNetworks("bitcoin", hash), ...onNetworks("tron", hash)];
}

function onNetworks(family: Network["family"], start: string): SearchTerms["transactions"] {
  const networks = NETWORKS.filter((network) => network.family === family);
  return beginningWith(start).flatMap((range) => networks.map(({ name }) => ({ network: name, ...range })));
}

/**
 * The stored form of an address of the network; undefined if the text cannot be one. Does not check what only matters where money is sent:
 * a text that is no address is simply not found.
 */
function addressText({ family, utxo }: Network, text: string): string | undefined {
  if (family === "evm") {
    const [, digits] = /^(?:0x)?([0-9a-f]{40})$/i.exec(text) ?? [];
    return digits === undefined ? undefined : checksumAddress(digits.toLowerCase());
  }
  if (family === "tron") return /^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text) ? text : tronAddressOfHex(text);
  const isSegwit = utxo !== null && text.toLowerCase().startsWith(`${utxo.hrp}1`);
  if (isSegwit) return /^[0-9a-z]{14,90}$/i.test(text) ? text.toLowerCase() : undefined;
  return /^[1-9A-HJ-NP-Za-km-z]{26,35}$/.test(text) ? text : undefined;
}

function tronAddressOfHex(text: string): string | undefined {
  const hex = text.toLowerCase().replace(/^0x(?=41)/, "");
  return /^41[0-9a-f]{40}$/.test(hex) ? addressOfHex(hex) : undefined;
}
