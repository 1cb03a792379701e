// The scope in which amounts must be distinct: an asset at an address on a network. Each place has its own allocator, named after it.

export interface AmountPlace {
  readonly network: string;
  readonly cryptocurrency: string;
  readonly address: string;
}

/** Network names and asset codes contain no colon, so two places never have the same name. */
const SEPARATOR = ":";

export function placeName({ network, cryptocurrency, address }: AmountPlace): string {
  if ([network, cryptocurrency].some((part) => part.includes(SEPARATOR)))
    throw new Error(`a colon in ${network} ${cryptocurrency}`);
  return [network, cryptocurrency, address].join(SEPARATOR);
}

/** Parses the place from an allocator's name; undefined if the name is malformed. */
export function placeNamed(name: string): AmountPlace | undefined {
  const [network = "", cryptocurrency = "", ...rest] = name.split(SEPARATOR);
  const address = rest.join(SEPARATOR);
  if (network === "" || cryptocurrency === "" || address === "") return undefined;
  return { network, cryptocurrency, address };
}
