// Looks at a port before anything else is done: wrangler itself would say so late, and in its own words.
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

/** A port that is free at this moment, for a server of a test. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  return address.port;
}

/** The code of the error, or undefined when listening worked. */
async function listenOnce(port: number, address: string): Promise<string | undefined> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
