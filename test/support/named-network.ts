import { type Network, type NetworkName, networkNamed } from "../../src/chains/registry/networks.ts";

export function network(name: NetworkName): Network {
  const found = networkNamed(name);
  if (found === undefined) throw new Error(`${name} is not in the registry`);
  return found;
}
