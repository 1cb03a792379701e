// The control port of `npm start`. For the development Worker, it does on this machine what a Worker cannot: it starts a test chain, and pays on it
// as a customer would. It only answers callers that have the token, and never a page in a browser.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import type * as z from "zod";
import { customerPaymentBody, TEST_NETWORK, type testChainBody } from "../src/app/test-chain/contract.ts";
import { networkNamed } from "../src/chains/registry/networks.ts";
import { anvilProgram, type EvmChain, startEvmChain } from "./demo-story/evm-chain.ts";
import { payDue } from "./demo-story/pay-due.ts";
import { findFreePort } from "./free-port.ts";
import { portOf } from "./port-of.ts";

/** The time between blocks while a payment is being confirmed. */
const MINE_EVERY_MS = 1_000;
/** The time between blocks otherwise. Without new blocks the chain would be reported as unreadable; frequent blocks would fill the disk. */
const IDLE_MINE_EVERY_MS = 60_000;
const MOST_BODY_BYTES = 4_096;

/** A stablecoin, so that the amount to pay equals the price. */
const CRYPTOCURRENCY = "USDC";

export interface ControlPort {
  /** Variables for the Worker: this port, and the address of the chain, even if the chain is not running yet. */
  readonly variables: Readonly<Record<string, string>>;
  /** Restarts the chain if an earlier run with this home had one, so that its payments do not disappear. */
  resume(): Promise<void>;
  /** Ends the chain and the port. May be called again. */
  stop(): Promise<void>;
}

/** `home`: the folder that keeps the chain's state. */
export async function openControlPort(home: string): Promise<ControlPort> {
  const chain = testChain(await findFreePort(), join(home, "test-chain.json"));
  const token = randomBytes(32).toString("hex");
  const server = createServer((request, response) => void answer(request, response, { token, chain }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    variables: {
      DEV_CONTROL: `http://127.0.0.1:${portOf(server)}/${token}`,
      CHAIN_SOURCES: JSON.stringify({ [TEST_NETWORK]: [{ kind: "evm-rpc", url: chain.url }] }),
      POLL_SECONDS: "1",
    },
    resume: chain.resume,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await chain.stop();
    },
  };
}

type TestChain = ReturnType<typeof testChain>;

function testChain(port: number, stateFile: string) {
  const { chainId, assets } = networkNamed(TEST_NETWORK) ?? { chainId: null, assets: [] };
  const tokens = assets.flatMap(({ contract }) => (contract === null ? [] : [contract]));
  let running: Promise<EvmChain> | undefined;
  let isRunning = false;
  let idle: NodeJS.Timeout | undefined;
  const start = async () => {
    running ??= startEvmChain(tokens, { port, chainId: chainId ?? 1, isClosedToPages: true, stateFile });
    try {
      const chain = await running;
      if (!isRunning) await chain.mine();
      idle ??= setInterval(() => void mineBlocks(chain, 1), IDLE_MINE_EVERY_MS).unref();
      isRunning = true;
    } catch (error) {
      // The next request tries again.
      running = undefined;
      throw error;
    }
  };
  return {
    url: `http://127.0.0.1:${port}`,
    state: (): z.infer<ReturnType<typeof testChainBody>> => {
      const stopped = hasAnvil() ? "STOPPED" : "UNAVAILABLE";
      return { state: isRunning ? "RUNNING" : stopped, network: TEST_NETWORK, cryptocurrency: CRYPTOCURRENCY };
    },
    start,
    resume: async () => {
      if (!existsSync(stateFile)) return;
      await start().catch((error) => console.error(`The test chain did not start again: ${error.message}`));
    },
    pay: async (payment: z.infer<ReturnType<typeof customerPaymentBody>>) => {
      if (running === undefined) throw new Error("the chain is not running");
      const chain = await running;
      await payDue(chain, payment);
      void mineBlocks(chain, payment.requiredConfirmations);
    },
    stop: async () => {
      clearInterval(idle);
      await (await running?.catch(() => undefined))?.stop();
    },
  };
}

/** Mines one block after the other, so that each confirmation is visible. */
async function mineBlocks(chain: EvmChain, count: number): Promise<void> {
  try {
    for (let mined = 0; mined < count; mined++) {
      await chain.mine();
      await new Promise((resolve) => setTimeout(resolve, MINE_EVERY_MS));
    }
  } catch {
    // The chain was stopped meanwhile.
  }
}

/** Whether anvil is installed; it does not exist for every system. */
function hasAnvil(): boolean {
  try {
    return existsSync(anvilProgram());
  } catch {
    return false;
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { token, chain }: { readonly token: string; readonly chain: TestChain },
): Promise<void> {
  const end = (status: number, body: object) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  try {
    const action = actionOf(request, token);
    if (action === undefined) return void end(404, {});
    if (action === "POST /chain") await chain.start();
    if (action === "POST /payments") await chain.pay(customerPaymentBody().parse(JSON.parse(await textOf(request))));
    end(200, chain.state());
  } catch (error) {
    end(500, { message: error instanceof Error ? error.message : String(error) });
  }
}

const ACTIONS = ["GET /chain", "POST /chain", "POST /payments"] as const;

/**
 * Undefined for callers that must be refused: a browser sends an origin or another host, even if its page knows the port.
 */
function actionOf(request: IncomingMessage, token: string): (typeof ACTIONS)[number] | undefined {
  const { host, origin } = request.headers;
  const [, given = "", path] = /^\/([^/]*)(\/.*)$/.exec(request.url ?? "") ?? [];
  const isOurs = host === `127.0.0.1:${request.socket.localPort}` && origin === undefined;
  if (!isOurs || !isSame(given, token)) return undefined;
  return ACTIONS.find((action) => action === `${request.method} ${path}`);
}

function isSame(given: string, token: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(token)];
  return one.length === other.length && timingSafeEqual(one, other);
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
    if (text.length > MOST_BODY_BYTES) throw new Error("the body is too long");
  }
  return text;
}
