// Looks at a port before anything else is done: wrangler itself would say so late, and in its own words.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { StartError } from "./settings.ts";

/** The loopback addresses that `localhost` may stand for. */
const LOOPBACK = ["127.0.0.1", "::1"];
/** A machine without IPv6 has no ::1; nobody can listen there. */
const NO_SUCH_ADDRESS = ["EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL"];

/** Throws StartError when the port cannot be had on loopback. */
export async function demandFreePort(port: number): Promise<void> {
  for (const address of LOOPBACK) {
    const code = await listenOnce(port, address);
    if (code === undefined || NO_SUCH_ADDRESS.includes(code)) continue;
    if (code === "EADDRINUSE")
      throw new StartError(`Port ${port} is in use. Stop what listens there, or choose another: PORT=8788 npm start`);
    if (code === "EACCES")
      throw new StartError(
        `Port ${port} needs more rights than this user has. Choose one from 1024: PORT=8788 npm start`,
      );
    throw new StartError(`Port ${port} cannot be listened on (${code}).`);
  }
}

/** Below the ports that systems give to outgoing connections: one of those could be taken again before the server of a test listens. */
const TEST_PORTS = { from: 12_000, to: 32_000 };
const MOST_TRIES = 100;

/** A port that is free at this moment, for a server of a test; a random one, so that two who ask get two. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const port = randomInt(TEST_PORTS.from, TEST_PORTS.to);
    const codes = await Promise.all(LOOPBACK.map((address) => listenOnce(port, address)));
    if (codes.every((code) => code === undefined || NO_SUCH_ADDRESS.includes(code))) return port;
  }
  throw new Error(`no free port from ${TEST_PORTS.from} to ${TEST_PORTS.to}`);
}

/** The code of the error, or undefined when listening worked. */
async function listenOnce(port: number, address: string): Promise<string | undefined> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
