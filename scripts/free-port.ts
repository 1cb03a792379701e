// Checks the port before anything is started, because wrangler reports a used port late and with its own message.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { StartError } from "./settings.ts";

/** The loopback addresses of `localhost`. */
const LOOPBACK = ["127.0.0.1", "::1"];
/** A machine without IPv6 has no ::1, so nothing can listen there. */
const NO_SUCH_ADDRESS = ["EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL"];

/** Throws StartError if the port cannot be used on loopback. */
export async function demandFreePort(port: number): Promise<void> {
  for (const address of LOOPBACK) {
    const code = await listenOnce(port, address);
    if (code === undefined || NO_SUCH_ADDRESS.includes(code)) continue;
    if (code === "EADDRINUSE")
      throw new StartError(
        `Port ${port} is in use. Stop the program that uses it, or choose another port: PORT=8788 npm start`,
      );
    if (code === "EACCES")
      throw new StartError(`Port ${port} needs administrator rights. Choose a port from 1024 on: PORT=8788 npm start`);
    throw new StartError(`Port ${port} cannot be used (${code}).`);
  }
}

const LOOK_EVERY_MS = 50;

/** Waits until the port is free, at most `withinMs`; returns whether it is free. */
export async function portIsFree(port: number, withinMs: number): Promise<boolean> {
  const lateAtMs = Date.now() + withinMs;
  for (;;) {
    const codes = await Promise.all(LOOPBACK.map((address) => listenOnce(port, address)));
    if (!codes.includes("EADDRINUSE")) return true;
    if (Date.now() >= lateAtMs) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** These are below the ports that outgoing connections use, because such a connection could take a port before a test's server listens on it. */
const TEST_PORTS = { from: 12_000, to: 32_000 };
const MOST_TRIES = 100;

/** Each test worker has its own slice of the ports, because another worker could otherwise take a port before the server listens on it. */
const SLICES = 8;
const sliceAt = Number(process.env.VITEST_POOL_ID ?? 0) % SLICES;
const SLICE = (TEST_PORTS.to - TEST_PORTS.from) / SLICES;
const given = new Set<number>();

/** A port that is free now, for a test's server. It is random, so that two processes rarely get the same port. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const port = TEST_PORTS.from + sliceAt * SLICE + randomInt(SLICE);
    if (given.has(port)) continue;
    const codes = await Promise.all(LOOPBACK.map((address) => listenOnce(port, address)));
    if (codes.some((code) => code !== undefined && !NO_SUCH_ADDRESS.includes(code))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port from ${TEST_PORTS.from} to ${TEST_PORTS.to}`);
}

/** The error's code, or undefined if listening worked. */
async function listenOnce(port: number, address: string): Promise<string | undefined> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
