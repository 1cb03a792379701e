// The registry: every network, asset and contract that Edgetill supports, as one frozen table with lookups by name.
import type { Asset } from "./assets.ts";
import type { Network } from "./network.ts";
import { NETWORK_TABLE } from "./network-table.ts";

export type { Asset } from "./assets.ts";
export type { Family, Network, NetworkName, UtxoParameters } from "./network.ts";

/** Every network, main networks first. */
export const NETWORKS: readonly Network[] = Object.freeze(
  NETWORK_TABLE.map((network) =>
    Object.freeze({
      ...network,
      aliases: Object.freeze(network.aliases),
      assets: Object.freeze(network.assets),
      utxo: network.utxo === null ? null : Object.freeze(network.utxo),
    }),
  ),
);

/** The codes of all assets, without duplicates. An invoice may also be priced in one of them (decisions 4). */
export const CRYPTO_CODES: readonly string[] = Object.freeze([
  ...new Set(NETWORKS.flatMap((network) => network.assets.map((asset) => asset.code))),
]);

/** ASCII only, because upper-casing turns letters such as the dotless i into ASCII letters. */
const NAME = /^[A-Za-z_]{1,32}$/;

/** The network with this canonical name or alias, in any case. */
export function networkNamed(text: string): Network | undefined {
  if (!NAME.test(text)) return undefined;
  const name = text.toUpperCase();
  return NETWORKS.find((network) => network.name === name || network.aliases.includes(name));
}

/** Whether the network's coins have no value: payments there never count as money received. */
export function isTestNetwork(text: string): boolean {
  return networkNamed(text)?.isTest ?? false;
}

/** The asset with this code, in any case, on a network; undefined when the pair is not supported. */
export function assetOn(network: Network, code: string): Asset | undefined {
  if (!NAME.test(code)) return undefined;
  const wanted = code.toUpperCase();
  return network.assets.find((asset) => asset.code === wanted);
}
