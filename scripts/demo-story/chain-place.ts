// The port of `npm run demo:chain`, also used by the scripts that pay on this chain.

/** The usual port of Ethereum nodes. */
export const CHAIN_PORT = Number(process.env.CHAIN_PORT || 8_545);

export function chainUrl(): string {
  return `http://127.0.0.1:${CHAIN_PORT}`;
}
