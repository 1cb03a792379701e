// A local Litecoin regtest chain with blocks on demand, if litecoind is installed.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findFreePort } from "../free-port.ts";
import { firstProgram } from "../program.ts";
import { type Rpc, rpcAt, untilAnswers } from "./rpc.ts";
import { spawnTied } from "./tied-process.ts";

export interface LitecoinChain {
  /** Includes user and password, for CHAIN_SOURCES. */
  readonly url: string;
  /** Sends a customer's payment, which stays in the mempool; returns its transaction hash. `coins`: the amount in coins, as text. */
  pay(to: string, coins: string): Promise<string>;
  mine(): Promise<void>;
  stop(): Promise<void>;
}

/** Undefined if litecoind is missing: LITECOIND does not name it, and it is neither on the PATH nor in .nodes. */
export async function startLitecoinChain(): Promise<LitecoinChain | undefined> {
  const program = firstProgram(process.env.LITECOIND, ["litecoind", resolve(".nodes/litecoind/litecoind.sh")]);
  if (program === undefined) return undefined;
  const home = mkdtempSync(join(tmpdir(), "edgetill-litecoin-"));
  const port = await findFreePort();
  const password = randomBytes(12).toString("hex");
  const litecoind = spawnTied([
    // Debian's litecoind is a script that writes into the caller's home.
    ...(["env", `HOME=${home}`] as const),
    program,
    "-chain=regtest",
    `-datadir=${home}`,
    "-server",
    "-printtoconsole=0",
    "-keypool=5",
    "-fallbackfee=0.0002",
    "-listen=0",
    "-connect=0",
    "-dnsseed=0",
    "-discover=0",
    "-rpcbind=127.0.0.1",
    "-rpcallowip=127.0.0.1",
    `-rpcport=${port}`,
    "-rpcuser=demo",
    `-rpcpassword=${password}`,
  ]);
  const forget = () => rmSync(home, { recursive: true, force: true });
  process.once("exit", forget);
  const stop = async () => {
    await litecoind.stop();
    process.removeListener("exit", forget);
    forget();
  };
  try {
    const rpc = rpcAt(`http://127.0.0.1:${port}/`, { authorization: `Basic ${btoa(`demo:${password}`)}` });
    await untilAnswers(rpc, "getblockcount", 30_000);
    return { url: `http://demo:${password}@127.0.0.1:${port}`, ...(await controls(rpc)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function controls(rpc: Rpc): Promise<Pick<LitecoinChain, "pay" | "mine">> {
  await rpc("createwallet", "customer");
  const miner = await rpc("getnewaddress");
  // The reward of a block can be spent after a hundred further blocks.
  await rpc("generatetoaddress", 101, miner);
  return {
    pay: async (to, coins) => String(await rpc("sendtoaddress", to, coins)),
    mine: async () => void (await rpc("generatetoaddress", 1, miner)),
  };
}
