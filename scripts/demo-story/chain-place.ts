// Where `npm run demo:chain` listens, for it and for who pays there.

/** The port that Ethereum nodes have by habit. */
export const CHAIN_PORT = Number(process.env.CHAIN_PORT || 8_545);

export function chainUrl(): string {
  return `http://127.0.0.1:${CHAIN_PORT}`;
}
