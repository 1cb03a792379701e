// A merchant's server for deliveries: a real one on loopback. The path of a request selects its behaviour, so one server is enough for all tests.
// `?key=` separates tests, and `receiver-control.ts` reads what arrived. Its memory and all its responses are bounded.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { type Listening, listen } from "./listen.ts";
import type { Reception } from "./receiver-control.ts";

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The part of the path after the behaviour's name. */
  readonly argument: string;
  readonly query: URLSearchParams;
  /** How many earlier requests had the same key, and how many of them the same `webhook-id`. */
  readonly before: { readonly ofKey: number; readonly ofEvent: number };
}

type Behaviour = (exchange: Exchange) => void | Promise<void>;

const MAX_LOG_BYTES = 64 * 2 ** 20;
const MAX_BODY_BYTES = 2 ** 16;
const MAX_ANSWER_BYTES = 256 * 2 ** 20;
const LONGEST_MS = 60_000;
const CHUNK = Buffer.alloc(2 ** 14, "x");

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  ok: (at) => answer(at, 200),
  /** `status/503`, with `&retry-after=` and `&body=`. */
  status: (at) => answer(at, Number(at.argument)),
  /** `fail-first/3`: the first three requests get a 500. */
  "fail-first": (at) => answer(at, at.before.ofKey < Number(at.argument) ? 500 : 200),
  /** `fail-each/3`: the first three attempts of every event get a 500. */
  "fail-each": (at) => answer(at, at.before.ofEvent < Number(at.argument) ? 500 : 200),
  /** Never answers. */
  hang: () => {},
  /** `hang-body/200`: headers at once, part of a body, then nothing. */
  "hang-body": ({ response, argument }) => void response.writeHead(Number(argument)).write("half of "),
  /** `slow/200`: answers after this many milliseconds. */
  slow: (at) => later(at, Number(at.argument), () => answer(at, 200)),
  /** `drip/20`: a 200 whose body is sent one byte at a time, at this interval in milliseconds, for a minute. */
  drip: (at) => drip(at, Number(at.argument)),
  /** `redirect/302`: to `ok` with the same key, so the log shows a client that follows it. */
  redirect: ({ response, argument, query }) =>
    void response.writeHead(Number(argument), { location: `/ok?key=${query.get("key")}` }).end("elsewhere"),
  /** Accepts the request and closes the connection without a response. */
  close: ({ request }) => void request.socket.destroy(),
  /** `half/200`: promises 1,000 bytes and closes the connection after 500. */
  half: ({ request, response, argument }) => {
    response.writeHead(Number(argument), { "content-length": 1_000 });
    response.write("h".repeat(500), () => request.socket.destroy());
  },
  /** `big/10485760`: a 200 with a body of this many bytes. */
  big: (at) => pour(at, Number(at.argument)),
  endless: (at) => pour(at, MAX_ANSWER_BYTES),
  /** `huge-headers/65536`: a 200 with a header of this many bytes. */
  "huge-headers": ({ response, argument }) =>
    void response.writeHead(200, { "x-huge": "h".repeat(Number(argument)) }).end("ok"),
  /** `bytes/<hex>`: a 200 with this body. */
  bytes: ({ response, argument }) => void response.writeHead(200).end(Buffer.from(argument, "hex")),
  /** `raw/<hex>`: sends these bytes instead of a response, then closes the connection. */
  raw: ({ request, argument }) => void request.socket.end(Buffer.from(argument, "hex")),
};

function answer({ response, query }: Exchange, status: number): void {
  const retryAfter = query.get("retry-after");
  const headers = retryAfter === null ? {} : { "retry-after": retryAfter };
  response.writeHead(status, headers).end(query.get("body") ?? `answered ${status}`);
}

function later({ response }: Exchange, ms: number, act: () => void): void {
  const timer = setTimeout(act, Math.min(ms, LONGEST_MS));
  response.once("close", () => clearTimeout(timer));
}

function drip({ response }: Exchange, everyMs: number): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write("."), everyMs);
  const end = setTimeout(() => response.end(), LONGEST_MS);
  response.once("close", () => {
    clearInterval(timer);
    clearTimeout(end);
  });
}

async function pour({ response }: Exchange, bytes: number): Promise<void> {
  const gone = once(response, "close");
  response.writeHead(200);
  for (let left = bytes; left > 0 && !response.destroyed; left -= CHUNK.length) {
    const isRoom = response.write(left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK);
    if (!isRoom) await Promise.race([once(response, "drain"), gone]);
  }
  response.end();
}

export async function startReceiver(): Promise<Listening> {
  const server = createServer();
  const { origin, close } = await listen(server);
  const book = new Book();
  server.on("request", async (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", origin);
    const [, name = "", argument = ""] = pathname.split("/");
    const key = query.get("key") ?? "";
    const body = await bodyOf(request).catch(() => undefined);
    if (body === undefined) return;
    if (name === "log") return void response.end(JSON.stringify(book.of(key)));
    if (name === "trust") return void response.end(book.trust(key, body));
    if (name === "tell") return void response.end(book.tell(key, body));
    const behaviour = BEHAVIOURS[name];
    if (behaviour === undefined && name !== "told") return void response.writeHead(404).end(`no behaviour ${name}`);
    const told = new URL(book.told(key), origin);
    const [, toldName = "", toldArgument = ""] = told.pathname.split("/");
    const before = book.count(key, String(request.headers["webhook-id"]));
    book.note(key, request, response, body);
    if (behaviour !== undefined) return behaviour({ request, response, argument, query, before });
    return BEHAVIOURS[toldName]?.({ request, response, argument: toldArgument, query: told.searchParams, before });
  });
  return { origin, close };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Received requests. If there are many, the oldest are dropped. */
class Book {
  readonly #log: { readonly key: string; readonly bytes: number; reception: Reception }[] = [];
  #bytes = 0;
  readonly #counts = new Map<string, number>();
  readonly #secrets = new Map<string, readonly string[]>();
  readonly #told = new Map<string, string>();

  of(key: string): readonly Reception[] {
    return this.#log.filter((each) => each.key === key).map(({ reception }) => reception);
  }

  trust(key: string, secrets: string): string {
    this.#secrets.set(key, secrets.split("\n"));
    return "trusted";
  }

  tell(key: string, behaviour: string): string {
    this.#told.set(key, behaviour);
    return "told";
  }

  told(key: string): string {
    return this.#told.get(key) ?? "/ok";
  }

  count(key: string, eventId: string): Exchange["before"] {
    const before = (name: string): number => {
      const count = this.#counts.get(name) ?? 0;
      this.#counts.set(name, count + 1);
      return count;
    };
    return { ofKey: before(key), ofEvent: before(`${key} ${eventId}`) };
  }

  note(key: string, request: IncomingMessage, response: ServerResponse, body: string): void {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const secrets = this.#secrets.get(key);
    const reception: Reception = {
      atMs: Date.now(),
      method: request.method ?? "",
      path: request.url ?? "",
      headers,
      body,
      signedBy: secrets?.filter((secret) => isSignedBy(secret, body, headers)) ?? null,
      end: "OPEN",
    };
    const entry = { key, bytes: body.length + 1_000, reception };
    response.once("finish", () => {
      entry.reception = { ...entry.reception, end: "ANSWERED" };
    });
    response.once("close", () => {
      if (!response.writableFinished) entry.reception = { ...entry.reception, end: "CUT" };
    });
    this.#log.push(entry);
    this.#bytes += entry.bytes;
    while (this.#bytes > MAX_LOG_BYTES) this.#bytes -= this.#log.shift()?.bytes ?? 0;
  }
}

function isSignedBy(secret: string, body: string, headers: Readonly<Record<string, string>>): boolean {
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}
