// The peer that a create is compared with: Fastify and PostgreSQL, which do the same work as the floor and also write an event (performance.md).
// PostgreSQL commits to disk, which is its default.
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import pg from "pg";
import { sha256Hex } from "../../src/lib/bytes.ts";
import { FLOOR_KEYS } from "../floor/server.ts";
import type { Reachable } from "../serve.ts";
import { type Postgres, startPostgres } from "./postgres.ts";
import { INSERT_KEY, INSERT_WALLET, TABLES } from "./sql.ts";

export interface PeerStart {
  readonly postgres: Postgres["connection"];
}

export type PeerReply = { readonly port: number } | { readonly error: string };

export interface Peer extends Reachable {
  readonly stop: () => Promise<void>;
}

export async function servePeer(progress: (text: string) => void): Promise<Peer> {
  const postgres = await startPostgres(progress);
  try {
    await setUp(postgres);
    const server = fork(join(import.meta.dirname, "server.ts"), [], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    const port = await portOf(server, { postgres: postgres.connection });
    return {
      host: "127.0.0.1",
      port,
      // Not measured, because its work is spread over many processes.
      cpuSeconds: () => undefined,
      stop: async () => {
        server.kill();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** Creates the tables, and the merchant of the floor's first key. */
async function setUp(postgres: Postgres): Promise<void> {
  const client = new pg.Client(postgres.connection);
  await client.connect();
  await client.query(TABLES);
  await client.query(INSERT_KEY, ["key_1", "mer_1", sha256Hex(FLOOR_KEYS[0] ?? "")]);
  await client.query(INSERT_WALLET, ["mer_1"]);
  await client.end();
}

function portOf(server: ChildProcess, start: PeerStart): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("exit", (code) => reject(new Error(`the peer ended with ${code}`)));
    server.once("message", (reply: PeerReply) => {
      if ("port" in reply) resolve(reply.port);
      else reject(new Error(`the peer did not start: ${reply.error}`));
    });
    server.send(start);
  });
}
