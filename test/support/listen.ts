import type { Server } from "node:http";

export interface Listening {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** Ends the server and every connection it has. */
  close(): Promise<void>;
}

/** Listens on loopback; by default on a free port. */
export async function listen(server: Server, port = 0): Promise<Listening> {
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
