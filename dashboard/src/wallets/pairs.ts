// The coins that an address or key can receive, for the form that registers a wallet.
import { NETWORKS, networkNamed } from "../../../src/chains/registry/networks.ts";
import type { Recognised } from "./recognise.ts";

export interface Pair {
  readonly cryptocurrency: string;
  readonly network: string;
  /** `USDT on Ethereum` */
  readonly label: string;
  readonly recommendedConfirmations: number;
}

/** USDT comes first. Test networks are left out. */
export function pairsFor(recognised: Recognised): readonly Pair[] {
  if (recognised.kind === "SECRET" || recognised.kind === "UNKNOWN") return [];
  const { coin } = recognised;
  const family = recognised.kind === "XPUB" ? "bitcoin" : recognised.family;
  const networks = NETWORKS.filter((each) => each.family === family && !each.isTest);
  const pairs = networks.flatMap(({ name, assets }) => assets.flatMap(({ code }) => pairOf(code, name)));
  return pairs
    .filter(({ cryptocurrency }) => coin === undefined || cryptocurrency === coin)
    .toSorted((a, b) => Number(b.cryptocurrency === "USDT") - Number(a.cryptocurrency === "USDT"));
}

/** The pair in a list, or an empty list for a network unknown to this console. */
export function pairOf(cryptocurrency: string, network: string): readonly Pair[] {
  const known = networkNamed(network);
  if (known === undefined) return [];
  const { displayName, recommendedConfirmations } = known;
  return [{ cryptocurrency, network, recommendedConfirmations, label: `${cryptocurrency} on ${displayName}` }];
}

/** The name that payers see: `Base`. */
export function displayNameOf(network: string): string {
  return networkNamed(network)?.displayName ?? network;
}

/** Whether an address of this network can also be used on other networks. */
export function isOnEvm(network: string): boolean {
  return networkNamed(network)?.family === "evm";
}

/** The recommended number of confirmations for a payment; undefined for a network unknown to this console. */
export function recommendedConfirmations(network: string): number | undefined {
  return networkNamed(network)?.recommendedConfirmations;
}
