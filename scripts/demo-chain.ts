// `npm run demo:chain`: a local Ethereum chain with the real tokens' addresses, for paying invoices of `npm start` manually. Its state is kept next
// to the server's, so both continue where they stopped.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import "./end-with-parent.ts";
import { networkNamed } from "../src/chains/registry/networks.ts";
import { CHAIN_PORT, chainUrl } from "./demo-story/chain-place.ts";
import { startEvmChain } from "./demo-story/evm-chain.ts";
import { demandFreePort } from "./free-port.ts";
import { StartError } from "./settings.ts";

const BLOCK_SECONDS = 1;

try {
  const home = resolve(process.env.EDGETILL_HOME || ".edgetill");
  mkdirSync(home, { recursive: true, mode: 0o700 });
  await demandFreePort(CHAIN_PORT);
  const tokens = networkNamed("ETH")?.assets.flatMap(({ contract }) => (contract === null ? [] : [contract])) ?? [];
  const chain = await startEvmChain(tokens, {
    port: CHAIN_PORT,
    blockSeconds: BLOCK_SECONDS,
    stateFile: join(home, "demo-chain.json"),
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(signal, async () => {
      await chain.stop();
      process.exit(0);
    });
  }
  console.log(`An Ethereum of this machine: ${chain.url}, a block every second.

Start the server on it, in a second terminal:

  POLL_SECONDS=1 CHAIN_SOURCES='${JSON.stringify({ ETH: [{ kind: "evm-rpc", url: chainUrl() }] })}' npm start

Then have a customer pay, in a third: npm run demo:pay makes an invoice and pays it, npm run demo:pay -- inv_... pays yours.
Stop with Ctrl-C.`);
  // Keeps this process alive: the chain ends with it.
  setInterval(() => {}, 60_000);
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message.replace(/Choose another.*|choose another.*/, "CHAIN_PORT names another."));
  process.exit(1);
}
