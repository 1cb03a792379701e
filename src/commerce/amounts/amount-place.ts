// Where amounts must be distinct: an asset at an address of a network. Each place has an allocator of its own, named after it.

export interface AmountPlace {
  readonly network: string;
  readonly cryptocurrency: string;
  readonly address: string;
}

/** Names of networks and codes of assets have no colon, so two places never have one name. */
const SEPARATOR = ":";

/** The name of the place's allocator. */
export function placeName({ network, cryptocurrency, address }: AmountPlace): string {
  if ([network, cryptocurrency].some((part) => part.includes(SEPARATOR)))
    throw new Error(`a colon in ${network} ${cryptocurrency}`);
  return [network, cryptocurrency, address].join(SEPARATOR);
}

/** The place that has this name; undefined if there is none. */
export function placeNamed(name: string): AmountPlace | undefined {
  const [network = "", cryptocurrency = "", ...rest] = name.split(SEPARATOR);
  const address = rest.join(SEPARATOR);
  if (network === "" || cryptocurrency === "" || address === "") return undefined;
  return { network, cryptocurrency, address };
}
