// Where `npm run demo:chain` listens; also for the scripts that pay there.

/** The usual port of Ethereum nodes. */
export const CHAIN_PORT = Number(process.env.CHAIN_PORT || 8_545);

export function chainUrl(): string {
  return `http://127.0.0.1:${CHAIN_PORT}`;
}
