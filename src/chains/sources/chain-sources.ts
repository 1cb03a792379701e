// The setting CHAIN_SOURCES: JSON that maps each network to a list of sources. `npm start` and the Worker both read it. A variable holds at most 5
// KB, so the setting may have several parts, each an object with its own networks. A source's URL may hold a vendor's key or a node's password, so
// no message repeats any part of it.

import { err, ok, type Result } from "../../lib/result.ts";
import { isObject, jsonObject } from "../../lib/typed-json.ts";
import { type Family, type Network, type NetworkName, networkNamed } from "../registry/networks.ts";

/** The kinds of source for each family. The order of the list in the setting determines which source is asked first. */
const KINDS = {
  bitcoin: ["esplora", "core-rpc", "blockbook"],
  evm: ["evm-rpc"],
  tron: ["tron-rpc", "trongrid"],
} as const satisfies Readonly<Record<Family, readonly string[]>>;

export type ChainSourceKind = (typeof KINDS)[Family][number];

/** Kinds whose clients append paths to the URL, which therefore cannot have a query. */
const REST_KINDS: readonly string[] = ["esplora", "blockbook", "trongrid"];

/** A source as its client needs it. Everything except the kind is secret. */
export interface ChainSource {
  readonly kind: ChainSourceKind;
  /** http or https, without user information, fragment or trailing slash. */
  readonly url: string;
  /** By lower-case name, sent with every request: vendors' keys, and the user information of the URL as Basic authorization. */
  readonly headers: Readonly<Record<string, string>>;
}

/** By canonical name, even if the setting uses an alias; no list is empty. */
export type ChainSources = ReadonlyMap<NetworkName, readonly ChainSource[]>;

/** A message may quote a short word without digits, because that is a mistyped name. Anything else may be a key in the wrong place. */
const QUOTABLE = /^[A-Za-z_]{1,16}$/;

const PARTS = [
  "CHAIN_SOURCES",
  "CHAIN_SOURCES_2",
  "CHAIN_SOURCES_3",
  "CHAIN_SOURCES_4",
  "CHAIN_SOURCES_5",
  "CHAIN_SOURCES_6",
  "CHAIN_SOURCES_7",
  "CHAIN_SOURCES_8",
  "CHAIN_SOURCES_9",
] as const;

export type ChainSettings = { readonly [part in (typeof PARTS)[number]]?: string | undefined };

/**
 * Parses CHAIN_SOURCES and its parts; empty text is `{}`. All sources for a network must be in one part. The error is a sentence for the operator.
 */
export function parseChainSources(settings: ChainSettings): Result<ChainSources, string> {
  const lists: [string, unknown][] = [];
  for (const part of PARTS) {
    const text = settings[part];
    const object = jsonObject(text === undefined || text.trim() === "" ? "{}" : text);
    if (object === undefined) return err(`${part} must be a JSON object that maps each network to a list of sources`);
    lists.push(...Object.entries(object));
  }
  const sources = new Map<NetworkName, readonly ChainSource[]>();
  for (const [name, list] of lists) {
    const network = networkNamed(name);
    if (network === undefined)
      return err(`CHAIN_SOURCES names an unknown network${QUOTABLE.test(name) ? `, ${name}` : ""}`);
    if (sources.has(network.name)) return err(`CHAIN_SOURCES names ${network.name} twice`);
    const parsed = sourcesOf(network, list);
    if (!parsed.ok) return parsed;
    sources.set(network.name, parsed.value);
  }
  return ok(sources);
}

/**
 * The first part of the setting that names no network, so that a network can be added without editing the other parts; undefined if each names one.
 */
export function freePart(settings: ChainSettings): string | undefined {
  return PARTS.find((part) => ["", "{}"].includes((settings[part] ?? "").trim()));
}

/** Canonical names of the networks with a source; empty if the value is invalid (`/healthz` reports it). */
export function watchedNetworks(settings: ChainSettings): ReadonlySet<string> {
  const sources = parseChainSources(settings);
  return new Set(sources.ok ? sources.value.keys() : []);
}

function sourcesOf(network: Network, list: unknown): Result<readonly ChainSource[], string> {
  if (!Array.isArray(list) || list.length === 0) {
    return err(`CHAIN_SOURCES of ${network.name} must be a list of at least one { "kind", "url" }`);
  }
  const sources: ChainSource[] = [];
  for (const [index, each] of list.entries()) {
    const source = sourceOf(network, each);
    if (!source.ok) return err(`CHAIN_SOURCES of ${network.name}, source ${index + 1}: ${source.error}`);
    sources.push(source.value);
  }
  return ok(sources);
}

function sourceOf(network: Network, value: unknown): Result<ChainSource, string> {
  const of = isObject(value) ? value : {};
  const kind = KINDS[network.family].find((known) => known === of.kind);
  if (kind === undefined) return err(`kind must be one of ${KINDS[network.family].join(", ")}`);
  if (Object.keys(of).some((name) => !MEMBERS.includes(name)))
    return err(`a source may only have the members ${MEMBERS.join(", ")}`);
  const address = typeof of.url === "string" ? webAddress(of.url) : undefined;
  if (address === undefined) return err("url must start with http:// or https://");
  if (REST_KINDS.includes(kind) && address.search !== "") return err(`url of kind ${kind} must not have a query`);
  const headers = headersOf(of.headers ?? {});
  if (headers === undefined) return err("headers must be an object that maps header names to texts");
  const authorization = basicOf(address);
  if (authorization === undefined) return ok({ kind, url: addressText(address), headers });
  if (headers.authorization !== undefined) return err("authorization is given twice, in the url and in the headers");
  return ok({ kind, url: addressText(address), headers: { ...headers, authorization } });
}

const MEMBERS: readonly string[] = ["kind", "url", "headers"];
/** RFC 9110 5.1 and 5.5, with values limited to characters that every platform sends unchanged. */
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

function headersOf(value: unknown): Readonly<Record<string, string>> | undefined {
  if (!isObject(value)) return undefined;
  const headers: [string, string][] = [];
  for (const [name, text] of Object.entries(value)) {
    if (!HEADER_NAME.test(name) || typeof text !== "string" || !HEADER_VALUE.test(text)) return undefined;
    headers.push([name.toLowerCase(), text]);
  }
  return Object.fromEntries(headers);
}

function webAddress(text: string): URL | undefined {
  const address = URL.canParse(text) ? new URL(text) : undefined;
  return address !== undefined && /^https?:$/.test(address.protocol) ? address : undefined;
}

/** RFC 7617, in UTF-8; undefined if the URL has no user information. */
function basicOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  const bytes = new TextEncoder().encode(`${unescaped(username)}:${unescaped(password)}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** Decodes the percent-encoding of a URL. Text with an invalid percent sign is used unchanged. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function addressText({ origin, pathname, search }: URL): string {
  return `${origin}${pathname.replace(/\/+$/, "")}${search}`;
}
