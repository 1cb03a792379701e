// Between a Worker and its database: each call passes here, and meets the weather. The runtime sends them as it sends those of remote bindings
// (`remoteProxyConnectionString`): the binding's name and the address are in headers of their own.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Stall } from "./measured.ts";
import type { Store } from "./store.ts";
import { D1_FAULTS, drawMs, isRefusal, type Weather } from "./weather.ts";

/** What D1 lets a statement take, waiting included. */
const QUERY_LIMIT_MS = 30_000;
/** Calls that may wait for a database; the number is not public, that there is one is. */
const MOST_WAITING = 200;
const CROWDED = "D1 DB is overloaded. Too many requests queued.";
const RESET = "D1 DB exceeded its CPU time limit and was reset.";
const TIMED_OUT = "D1 DB storage operation exceeded timeout which caused object to be reset.";

export interface Counts {
  /** Requests to the database, and the statements in them. */
  calls: number;
  statements: number;
  failed: number;
  /** Calls that met a database that is reset again and again. */
  reset: number;
  rowsRead: number;
  rowsWritten: number;
  /** Milliseconds of each call, waiting included. */
  readonly times: number[];
  /** When each of those that failed did, in milliseconds since 1970. */
  readonly failedAt: number[];
}

export interface Gate {
  readonly url: URL;
  readonly counts: Counts;
  /** Changes from the next call on. */
  weather: Weather;
  /** Oldest first. */
  readonly stalls: readonly Stall[];
  /** From now on the database answers nothing for so long. */
  stall(ms: number): void;
  /** For so long from the next call on, each fails: the database is reset again and again, because a statement takes too much of it. */
  resetForMs: number;
  stop(): Promise<void>;
}

export interface GateOptions {
  readonly store: Store;
  readonly weather: Weather;
  readonly random: () => number;
  /** The id of the database behind a binding. */
  readonly databaseOf: (binding: string) => string | undefined;
}

export async function startGate(options: GateOptions): Promise<Gate> {
  const counts: Counts = {
    calls: 0,
    statements: 0,
    failed: 0,
    reset: 0,
    rowsRead: 0,
    rowsWritten: 0,
    times: [],
    failedAt: [],
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => answer(response, 500, { error: String(error) }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const stalls: Stall[] = [];
  const gate: Gate = {
    url: new URL(`http://127.0.0.1:${port}`),
    counts,
    weather: options.weather,
    stalls,
    stall: (ms) => void stalls.push({ startMs: Date.now(), endMs: Date.now() + ms }),
    resetForMs: 0,
    stop: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
  const line = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, number>();

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const binding = String(request.headers["mf-binding"]);
    const url = new URL(String(request.headers["mf-url"]));
    const database = options.databaseOf(binding);
    if (database === undefined) return answer(response, 404, { error: `no database is bound as ${binding}` });
    await query(response, database, `${url.pathname}${url.search}`, body);
  }

  async function query(response: ServerResponse, database: string, path: string, body: string): Promise<void> {
    const begunMs = Date.now();
    const statements = JSON.parse(body) as { readonly sql: string } | readonly { readonly sql: string }[];
    const texts = [statements].flat().map(({ sql }) => sql);
    counts.calls += 1;
    counts.statements += texts.length;
    const isRead = texts.every((sql) => /^\s*(select|explain)/i.test(sql));
    const { read, write, faults } = gate.weather;
    const wayMs = drawMs(isRead ? read : write, options.random);
    const drawn = options.random() < faults ? D1_FAULTS[Math.floor(options.random() * D1_FAULTS.length)] : undefined;
    const isReset = meetsReset();
    const fault = isReset ? RESET : drawn;
    const isLost = !isReset && fault !== undefined && !isRefusal(fault) && options.random() < 0.5;
    await sleep(wayMs / 2);
    const given =
      fault !== undefined && !isLost
        ? failure(fault)
        : await inLine(database, begunMs, () => options.store.raw(database, path, body));
    await sleep(wayMs / 2);
    const { status, text } = isLost ? failure(fault) : given;
    if (status !== 200) {
      counts.failed += 1;
      counts.failedAt.push(Date.now());
    }
    // As D1 counts them for the bill: in each statement's answer.
    for (const [, read_, rows] of text.matchAll(/"rows_(read|written)":(\d+)/g))
      counts[read_ === "read" ? "rowsRead" : "rowsWritten"] += Number(rows);
    counts.times.push(Date.now() - begunMs);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(text);
  }

  let resetUntilMs = 0;
  function meetsReset(): boolean {
    const nowMs = Date.now();
    if (gate.resetForMs > 0) resetUntilMs = nowMs + gate.resetForMs;
    gate.resetForMs = 0;
    const isReset = nowMs < resetUntilMs;
    if (isReset) counts.reset += 1;
    return isReset;
  }

  /** One at a time, as a database does it; what has waited too long is refused, and what stands first waits for the end of a stall. */
  function inLine(
    database: string,
    begunMs: number,
    work: () => Promise<{ readonly status: number; readonly text: string }>,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const before = line.get(database) ?? Promise.resolve();
    const ahead = waiting.get(database) ?? 0;
    if (ahead >= MOST_WAITING) return Promise.resolve(failure(CROWDED));
    waiting.set(database, ahead + 1);
    const mine = before.then(async () => {
      waiting.set(database, (waiting.get(database) ?? 1) - 1);
      const lateMs = begunMs + QUERY_LIMIT_MS;
      await sleep(Math.max(0, Math.min(stalls.at(-1)?.endMs ?? 0, lateMs) - Date.now()));
      return Date.now() >= lateMs ? failure(TIMED_OUT) : work();
    });
    line.set(
      database,
      mine.catch(() => undefined),
    );
    return mine;
  }
  return gate;
}

const failure = (error: string) => ({ status: 500, text: JSON.stringify({ success: false, error }) });

function answer(response: ServerResponse, status: number, of: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(of));
}
