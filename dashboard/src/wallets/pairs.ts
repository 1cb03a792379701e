// What may be received at an address or with a key, for the form that registers one.
import { NETWORKS, networkNamed } from "../../../src/chains/registry/networks.ts";
import type { Recognised } from "./recognise.ts";

export interface Pair {
  readonly cryptocurrency: string;
  readonly network: string;
  /** `USDT on Ethereum` */
  readonly label: string;
  readonly recommendedConfirmations: number;
}

/** The usual stablecoin first. Test networks are for those who know them. */
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

/** The pair; undefined for a network unknown to this console. */
export function pairOf(cryptocurrency: string, network: string): readonly Pair[] {
  const known = networkNamed(network);
  if (known === undefined) return [];
  const { displayName, recommendedConfirmations } = known;
  return [{ cryptocurrency, network, recommendedConfirmations, label: `${cryptocurrency} on ${displayName}` }];
}

/** As payers see it: `Base`. */
export function displayNameOf(network: string): string {
  return networkNamed(network)?.displayName ?? network;
}

/** Whether addresses of the network are the same on others. */
export function isOnEvm(network: string): boolean {
  return networkNamed(network)?.family === "evm";
}

/** How many confirmations a payment on the network should have; undefined for a network unknown to this console. */
export function recommendedConfirmations(network: string): number | undefined {
  return networkNamed(network)?.recommendedConfirmations;
}
