// Where a deployment reads its chains (CHAIN_SOURCES, chains.md 1): JSON of network to a list of sources, read by `npm start` and by the
// Worker alike. A source's address may hold a vendor's key or a node's password, so no message repeats any part of one.
import { err, ok, type Result } from "../lib/result.ts";
import { type Family, type Network, type NetworkName, networkNamed } from "./networks.ts";

/** The kinds of source that each family can be read from; which is asked first is the order of the list in the setting. */
const KINDS = {
  bitcoin: ["esplora", "core-rpc", "blockbook"],
  evm: ["evm-rpc"],
  tron: ["tron-rpc", "trongrid"],
} as const satisfies Readonly<Record<Family, readonly string[]>>;

export type ChainSourceKind = (typeof KINDS)[Family][number];

export interface ChainSource {
  readonly kind: ChainSourceKind;
  /** http or https, as configured: a secret. */
  readonly url: string;
}

/** By canonical name, whatever the setting called them; no list is empty. */
export type ChainSources = ReadonlyMap<NetworkName, readonly ChainSource[]>;

/** Short words without digits are names that somebody mistyped; anything else may be a key in the wrong place. */
const QUOTABLE = /^[A-Za-z_]{1,16}$/;

/** Parses CHAIN_SOURCES; empty text is `{}`. The error is a sentence for whoever deploys. */
export function parseChainSources(text: string | undefined): Result<ChainSources, string> {
  const object = jsonObject(text === undefined || text.trim() === "" ? "{}" : text);
  if (object === undefined) return err("CHAIN_SOURCES must be a JSON object of network to a list of sources");
  const sources = new Map<NetworkName, readonly ChainSource[]>();
  for (const [name, list] of Object.entries(object)) {
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

/** Canonical names of the networks with a source; a value that is refused watches nothing (`/healthz` says so). */
export function watchedNetworks(text: string | undefined): ReadonlySet<string> {
  const sources = parseChainSources(text);
  return new Set(sources.ok ? sources.value.keys() : []);
}

function sourcesOf(network: Network, list: unknown): Result<readonly ChainSource[], string> {
  if (!Array.isArray(list) || list.length === 0) {
    return err(`CHAIN_SOURCES of ${network.name} must be a list of at least one { "kind", "url" }`);
  }
  const sources: ChainSource[] = [];
  for (const [index, each] of list.entries()) {
    const at = `CHAIN_SOURCES of ${network.name}, source ${index + 1}:`;
    const kind = KINDS[network.family].find((known) => known === memberOf(each, "kind"));
    if (kind === undefined) return err(`${at} kind must be one of ${KINDS[network.family].join(", ")}`);
    const url = memberOf(each, "url");
    if (typeof url !== "string" || !isWebAddress(url)) return err(`${at} url must be an http or https address`);
    sources.push({ kind, url });
  }
  return ok(sources);
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
