// A proxy between a Worker and its database that delays and fails calls as its `Weather` describes. The runtime sends calls as to remote bindings
// (`remoteProxyConnectionString`): the binding's name and the address are in separate headers.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { ATTEMPT_LIMIT_MS } from "../../src/platform/db/retry.ts";
import { listen } from "../support/listen.ts";
import { D1_FAULTS } from "./faults.ts";
import { jsonIn } from "./json.ts";
import { addSpan, type Stall } from "./measured.ts";
import type { Store } from "./store.ts";
import { drawMs, type Weather } from "./weather.ts";

/** D1's time limit for a statement, including its time in the queue. */
const QUERY_LIMIT_MS = 30_000;
/** How many calls may wait for a database. The real limit is not public. */
const MOST_WAITING = 200;
const CROWDED = "D1 DB is overloaded. Too many requests queued.";
const RESET = "D1 DB exceeded its CPU time limit and was reset.";
const TIMED_OUT = "D1 DB storage operation exceeded timeout which caused object to be reset.";

const STATEMENT = z.object({ sql: z.string() });
const STATEMENTS = z.union([STATEMENT, z.array(STATEMENT)]);

interface Reset {
  readonly way: "read" | "write";
  /** The minimum size of a call that starts the reset; smaller calls pass. */
  readonly leastBytes: number;
  /** How long the first call is unanswered, so that other requests start to wait for it. */
  readonly afterMs: number;
  readonly forMs: number;
}

interface MetReset {
  calls: number;
  /** The highest number of concurrent calls. */
  atOnce: number;
  /** Calls that begin like the first one, each counted once: the first call itself, and its parts. */
  likeFirst: number;
}

interface Counts {
  /** Requests to the database, and the statements that they contain. */
  calls: number;
  statements: number;
  failed: number;
  rowsRead: number;
  rowsWritten: number;
  /** Milliseconds of each call, including its wait. */
  readonly times: number[];
  /**
   * When calls failed because of a simulated fault, in milliseconds since 1970. A statement that the database itself refuses is not included, because
   * that is the Worker's mistake.
   */
  readonly failedAt: number[];
  /** The work of each statement, by its text without lists of values. */
  readonly bySql: Map<string, Work>;
}

/** What a statement cost the database itself, without waits and network delays; rows as D1 bills them. */
export interface Work {
  times: number;
  ms: number;
  rowsRead: number;
  rowsWritten: number;
}

export interface Gate {
  readonly url: URL;
  readonly counts: Counts;
  /** A change takes effect from the next call. */
  weather: Weather;
  /** Oldest first. */
  readonly stalls: readonly Stall[];
  /**
   * When calls were answered much later than their simulated latency, in a stall or because the machine was overloaded. A Worker that notices this
   * limits its own calls (src/platform/db/unanswered.ts). Oldest first.
   */
  readonly late: readonly Stall[];
  /** From now on the database answers nothing for this long. */
  stall(ms: number): void;
  /**
   * Resets the database repeatedly, as if a statement needed too much of it. From the next call that matches `reset`, every call fails for `forMs`.
   * The returned object counts these calls.
   */
  resetFrom(reset: Reset): Readonly<MetReset>;
  stop(): Promise<void>;
}

interface GateOptions {
  readonly store: Pick<Store, "raw">;
  readonly weather: Weather;
  readonly random: () => number;
  /** Replaces D1's time limit for a statement, including its wait. */
  readonly queryLimitMs?: number;
  /** The id of the database behind a binding. */
  readonly databaseOf: (binding: string) => string | undefined;
}

/** A database's answer, or its replacement. */
interface Given {
  readonly status: number;
  readonly text: string;
  /** Whether it is a simulated fault. */
  readonly isPlayed?: boolean;
}

export async function startGate(options: GateOptions): Promise<Gate> {
  const passage = new Passage(options);
  const server = createServer((request, response) => {
    passage.serve(request, response).catch((error: unknown) => answer(response, 500, { error: String(error) }));
  });
  const { origin, close } = await listen(server);
  return Object.assign(passage, { url: new URL(origin), stop: close });
}

class Passage implements Omit<Gate, "url" | "stop"> {
  readonly counts: Counts = {
    calls: 0,
    statements: 0,
    failed: 0,
    rowsRead: 0,
    rowsWritten: 0,
    times: [],
    failedAt: [],
    bySql: new Map(),
  };
  readonly stalls: Stall[] = [];
  readonly late: Stall[] = [];
  weather: Weather;
  #reset: Resetting | undefined;
  readonly #options: GateOptions;
  /** By database: the end of its queue, and the number of waiting calls. */
  readonly #line = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<string, number>();

  constructor(options: GateOptions) {
    this.#options = options;
    this.weather = options.weather;
  }

  stall(ms: number): void {
    this.stalls.push({ startMs: Date.now(), endMs: Date.now() + ms });
  }

  resetFrom(reset: Reset): Readonly<MetReset> {
    this.#reset = new Resetting(reset);
    return this.#reset.met;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    const binding = String(request.headers["mf-binding"]);
    const url = new URL(String(request.headers["mf-url"]));
    const database = this.#options.databaseOf(binding);
    if (database === undefined) return answer(response, 404, { error: `no database is bound as ${binding}` });
    const { status, text } = await this.#query(database, `${url.pathname}${url.search}`, body);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(text);
  }

  async #query(database: string, path: string, body: string): Promise<Given> {
    const begunMs = Date.now();
    const { random, store } = this.#options;
    const texts = [jsonIn(STATEMENTS, body)].flat().map(({ sql }) => sql);
    this.counts.calls += 1;
    this.counts.statements += texts.length;
    const isRead = texts.every((sql) => /^\s*(select|explain)/i.test(sql));
    const { read, write, faults } = this.weather;
    const wayMs = drawMs(isRead ? read : write, random);
    const drawn = random() < faults ? D1_FAULTS[Math.floor(random() * D1_FAULTS.length)] : undefined;
    const reset = this.#reset?.meets(isRead ? "read" : "write", { body, texts }) === true ? this.#reset : undefined;
    const isReset = reset !== undefined;
    const fault = isReset ? RESET : drawn?.message;
    const isLost = !isReset && drawn?.isRefusal === false && random() < 0.5;
    await sleep(wayMs / 2);
    await reset?.begun();
    const given =
      fault !== undefined && !isLost
        ? failure(fault)
        : await this.#inLine(database, begunMs, () => store.raw(database, path, body));
    this.#note(texts, given.text);
    await sleep(wayMs / 2);
    reset?.leave();
    const answered = isLost && fault !== undefined ? failure(fault) : given;
    this.#count(answered);
    const endMs = Date.now();
    this.counts.times.push(endMs - begunMs);
    if (endMs - begunMs - wayMs >= ATTEMPT_LIMIT_MS) addSpan(this.late, { startMs: begunMs, endMs });
    return answered;
  }

  #count({ status, isPlayed = false }: Given): void {
    if (status === 200) return;
    this.counts.failed += 1;
    if (isPlayed) this.counts.failedAt.push(Date.now());
  }

  /** Each statement has its own figures in the answer, in the order of the statements; an error has none. */
  #note(texts: readonly string[], text: string): void {
    const facts = [...text.matchAll(/"duration":([\d.]+)[^{}]*"rows_read":(\d+),"rows_written":(\d+)/g)];
    for (const [place, [, ms, read, written]] of facts.entries()) {
      const sql = (texts[place] ?? "").replace(/\?(, *\?)+/g, "?, ..").replace(/\s+/g, " ");
      const before = this.counts.bySql.get(sql) ?? { times: 0, ms: 0, rowsRead: 0, rowsWritten: 0 };
      this.counts.bySql.set(sql, {
        times: before.times + 1,
        ms: before.ms + Number(ms),
        rowsRead: before.rowsRead + Number(read),
        rowsWritten: before.rowsWritten + Number(written),
      });
      this.counts.rowsRead += Number(read);
      this.counts.rowsWritten += Number(written);
    }
  }

  /** Runs calls one at a time, like a database. A call that has waited too long is refused, and the first one waits for the end of a stall. */
  #inLine(database: string, begunMs: number, work: () => Promise<Given>): Promise<Given> {
    const before = this.#line.get(database) ?? Promise.resolve();
    const ahead = this.#waiting.get(database) ?? 0;
    if (ahead >= MOST_WAITING) return Promise.resolve(failure(CROWDED));
    this.#waiting.set(database, ahead + 1);
    const mine = before.then(async () => {
      this.#waiting.set(database, (this.#waiting.get(database) ?? 1) - 1);
      const lateMs = begunMs + (this.#options.queryLimitMs ?? QUERY_LIMIT_MS);
      await sleep(Math.max(0, Math.min(this.stalls.at(-1)?.endMs ?? 0, lateMs) - Date.now()));
      return Date.now() >= lateMs ? failure(TIMED_OUT) : work();
    });
    this.#line.set(
      database,
      mine.catch(() => undefined),
    );
    return mine;
  }
}

/** A database that is reset repeatedly from a given call on. */
class Resetting {
  readonly met: MetReset = { calls: 0, atOnce: 0, likeFirst: 0 };
  readonly #reset: Reset;
  readonly #bodies = new Set<string>();
  #first: { readonly fromMs: number; readonly untilMs: number; readonly table: string } | undefined;
  #now = 0;

  constructor(reset: Reset) {
    this.#reset = reset;
  }

  /** Whether the call fails because of the reset. If it does, it counts as concurrent until `leave`. */
  meets(way: Reset["way"], { body, texts: [text = ""] }: { readonly body: string; readonly texts: readonly string[] }) {
    const { leastBytes, afterMs, forMs } = this.#reset;
    const fromMs = Date.now() + afterMs;
    if (this.#first === undefined && way === this.#reset.way && body.length >= leastBytes)
      this.#first = { fromMs, untilMs: fromMs + forMs, table: beginningOf(text) };
    if (this.#first === undefined || Date.now() >= this.#first.untilMs) return false;
    this.met.calls += 1;
    this.#now += 1;
    this.met.atOnce = Math.max(this.met.atOnce, this.#now);
    if (beginningOf(text) === this.#first.table && !this.#bodies.has(body)) this.met.likeFirst += 1;
    this.#bodies.add(body);
    return true;
  }

  async begun(): Promise<void> {
    await sleep(Math.max(0, (this.#first?.fromMs ?? 0) - Date.now()));
  }

  leave(): void {
    this.#now -= 1;
  }
}

/** The start of a statement: its verb and its table. */
const beginningOf = (sql: string) => sql.split("(", 1)[0] ?? "";

const failure = (error: string): Given => ({
  status: 500,
  text: JSON.stringify({ success: false, error }),
  isPlayed: true,
});

function answer(response: ServerResponse, status: number, of: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(of));
}
