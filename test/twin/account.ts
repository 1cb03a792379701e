// A Cloudflare account on loopback. It has everything that `npm run deploy` and the commands in our runbooks use: databases, queues, and Workers with
// their assets, secrets and crons. Real wrangler connects to it (CLOUDFLARE_API_BASE_URL), and its uploads are stored unchanged.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import * as z from "zod";
import { listen } from "../support/listen.ts";
import {
  type Answer,
  type Asked,
  type Database,
  databaseText,
  hex,
  listed,
  noDatabase,
  type QueryDatabase,
  type Queue,
  queueText,
  type Route,
  type WorkerOfAccount,
} from "./account-kept.ts";
import { AccountWorkers } from "./account-workers.ts";
import { jsonIn } from "./json.ts";

const NAMED = z.object({ name: z.string() });
const NEW_QUEUE = z.object({ queue_name: z.string() });
const CONSUMER = z.object({
  script_name: z.string(),
  settings: z.object({ batch_size: z.number().default(10), max_retries: z.number().default(3) }).prefault({}),
});
const STATEMENT = z.object({ sql: z.string(), params: z.array(z.unknown()).default([]) });

export interface Account {
  readonly id: string;
  /** The value for CLOUDFLARE_API_BASE_URL. */
  readonly url: string;
  readonly databases: readonly Database[];
  readonly queues: readonly Queue[];
  worker(name: string): WorkerOfAccount | undefined;
  /** Calls about databases, except statements, as "<action> <id>", oldest first. */
  readonly acts: readonly string[];
  /** The strategy for switching objects to new code, for each deployed upload, oldest first. */
  readonly strategies: readonly string[];
  /** Requests to unknown routes, as "GET /path"; they got a 404. */
  readonly unknown: readonly string[];
  stop(): Promise<void>;
}

/** Listens on a free port of loopback. */
export async function startAccount(query: QueryDatabase): Promise<Account> {
  const state = new AccountState(query);
  const { origin, close } = await listen(createServer((request, response) => void state.serve(request, response)));
  return {
    id: state.id,
    url: `${origin}/client/v4`,
    databases: state.databases,
    queues: state.queues,
    worker: (name) => state.workers.byName.get(name),
    strategies: state.workers.strategies,
    acts: state.acts,
    unknown: state.unknown,
    stop: close,
  };
}

class AccountState {
  readonly id = hex();
  readonly databases: Database[] = [];
  readonly queues: Queue[] = [];
  readonly workers = new AccountWorkers();
  readonly unknown: string[] = [];
  readonly acts: string[] = [];
  readonly #query: QueryDatabase;
  readonly #routes: readonly Route[];

  constructor(query: QueryDatabase) {
    this.#query = query;
    const of = (path: string) => new RegExp(`^/accounts/${this.id}${path}$`);
    this.#routes = [
      ["GET", /^\/user\/tokens\/verify$/, () => ({ result: { id: "token", status: "active" } })],
      ["GET", /^\/user$/, () => ({ result: { email: "operator@example.com" } })],
      ["GET", /^\/accounts$/, () => listed([{ id: this.id, name: "Example" }])],
      ["GET", /^\/memberships$/, () => listed([{ account: { id: this.id, name: "Example" } }])],
      // Figures of a database's recent activity, which `d1 info` shows.
      ["POST", /^\/graphql$/, () => ({ result: null, data: { viewer: { accounts: [] } } })],
      ["POST", of("/r2/buckets"), ({ body }) => ({ result: { name: jsonIn(NAMED, body).name } })],
      ...this.#databaseRoutes(of),
      ...this.#timeTravelRoutes(of),
      ...this.#queueRoutes(of),
      ...this.workers.routes(of),
    ];
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const url = new URL(request.url ?? "", "http://account");
    const path = url.pathname.replace(/^\/client\/v4/, "");
    const { method = "" } = request;
    const answer = await this.#answer(method, path, {
      query: url.searchParams,
      type: request.headers["content-type"] ?? "",
      body,
    }).catch((error: unknown): Answer => ({ status: 500, code: 10013, message: String(error) }));
    const isGood = "result" in answer;
    const { status = 200 } = answer;
    response.writeHead(status, { "content-type": "application/json" });
    const rest = isGood
      ? { errors: [], result: answer.result, result_info: answer.info, data: answer.data }
      : { errors: [{ code: answer.code, message: answer.message }], result: null };
    response.end(JSON.stringify({ success: isGood, messages: [], ...rest }));
  }

  async #answer(method: string, path: string, asked: Omit<Asked, "parts">): Promise<Answer> {
    for (const [of, pattern, answer] of this.#routes) {
      const found = of === method ? pattern.exec(path) : null;
      if (found !== null) return answer({ ...asked, parts: found.slice(1).map(decodeURIComponent) });
    }
    this.unknown.push(`${method} ${path}`);
    return { status: 404, code: 7003, message: `The account has nothing at ${method} ${path}` };
  }

  #databaseRoutes(of: (path: string) => RegExp): readonly Route[] {
    return [
      ["GET", of("/d1/database"), ({ query }) => this.#databasesNamed(query.get("name"))],
      ["POST", of("/d1/database"), ({ body }) => this.#makeDatabase(jsonIn(NAMED, body).name)],
      ["GET", of("/d1/database/([^/]+)"), ({ parts: [id = ""] }) => this.#database(id)],
      [
        "POST",
        of("/d1/database/([^/]+)/query"),
        async ({ parts: [id = ""], body }) => {
          if (!this.databases.some(({ uuid }) => uuid === id)) return noDatabase(id);
          const { sql, params } = jsonIn(STATEMENT, body);
          const answers = await this.#query(id, sql, params);
          const failed = answers.find(({ success }) => !success);
          if (failed !== undefined) return { status: 400, code: 7500, message: failed.error ?? "the query failed" };
          return { result: answers };
        },
      ],
    ];
  }

  #timeTravelRoutes(of: (path: string) => RegExp): readonly Route[] {
    const onDatabase =
      (act: string, result: unknown) =>
      ({ parts: [id = ""] }: Asked): Answer => {
        if (!this.databases.some(({ uuid }) => uuid === id)) return noDatabase(id);
        this.acts.push(`${act} ${id}`);
        return { result };
      };
    const bookmark = "00000001-00000002-00000003-0123456789abcdef0123456789abcdef";
    return [
      ["GET", of("/d1/database/([^/]+)/time_travel/bookmark"), onDatabase("bookmark", { bookmark })],
      [
        "POST",
        of("/d1/database/([^/]+)/time_travel/restore"),
        onDatabase("restore", { bookmark, previous_bookmark: bookmark, message: "restored" }),
      ],
    ];
  }

  #queueRoutes(of: (path: string) => RegExp): readonly Route[] {
    return [
      [
        "GET",
        of("/queues"),
        ({ query }) => {
          const names = query.getAll("name");
          const found = this.queues.filter(({ name }) => names.length === 0 || names.includes(name));
          return listed(found.map(queueText));
        },
      ],
      [
        "POST",
        of("/queues"),
        ({ body }) => {
          const { queue_name: name } = jsonIn(NEW_QUEUE, body);
          const queue: Queue = { id: hex(), name, consumer: undefined };
          this.queues.push(queue);
          return { result: queueText(queue) };
        },
      ],
      [
        "GET",
        of("/queues/([^/]+)/consumers"),
        ({ parts: [id = ""] }) => this.#withQueue(id, (queue) => listed(queueText(queue).consumers)),
      ],
      [
        "POST",
        of("/queues/([^/]+)/consumers"),
        ({ parts: [id = ""], body }) => this.#withQueue(id, (queue) => this.#consume(queue, body)),
      ],
      [
        "PUT",
        of("/queues/([^/]+)/consumers/[^/]+"),
        ({ parts: [id = ""], body }) => this.#withQueue(id, (queue) => this.#consume(queue, body)),
      ],
    ];
  }

  #databasesNamed(name: string | null): Answer {
    return listed(this.databases.filter((each) => name === null || each.name === name).map(databaseText));
  }

  #makeDatabase(name: string): Answer {
    if (this.databases.some((each) => each.name === name))
      return { status: 400, code: 7502, message: "A database with this name already exists" };
    const database = { uuid: randomUUID(), name };
    this.databases.push(database);
    return { result: databaseText(database) };
  }

  #database(id: string): Answer {
    const found = this.databases.find(({ uuid }) => uuid === id);
    return found === undefined ? noDatabase(id) : { result: databaseText(found) };
  }

  #withQueue(id: string, answer: (queue: Queue) => Answer): Answer {
    const queue = this.queues.find((each) => each.id === id);
    return queue === undefined ? { status: 404, code: 11000, message: "Queue not found" } : answer(queue);
  }

  #consume(queue: Queue, body: Buffer): Answer {
    const { script_name: script, settings } = jsonIn(CONSUMER, body);
    queue.consumer = { script, batchSize: settings.batch_size, maxRetries: settings.max_retries };
    return { result: queueText(queue).consumers[0] };
  }
}
