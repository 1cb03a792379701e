import type { Server } from "node:http";
import { portOf } from "../../scripts/port-of.ts";

export interface Listening {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** Ends the server and every connection it has. */
  close(): Promise<void>;
}

/**
 * Longer than any test's pause between two requests. Node's default of 5 s is about as long as the first pause of a delivery. If a connection closes
 * just as the next POST is sent, the POST fails.
 */
const KEPT_ALIVE_MS = 300_000;

/** Listens on loopback; by default on a free port. */
export async function listen(server: Server, port = 0): Promise<Listening> {
  server.keepAliveTimeout = KEPT_ALIVE_MS;
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${portOf(server)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
