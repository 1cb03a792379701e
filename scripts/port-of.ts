import type { Server } from "node:net";

/** The port of a server that listens; throws if it has none. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}
