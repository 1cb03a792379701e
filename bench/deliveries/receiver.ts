// A merchant's server in its own process. It answers 200 at once and does nothing else, so that it does not affect the measurement.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { answerQuestions } from "./companion.ts";
import { type Ask, nowMs, type Seen } from "./messages.ts";

export type Told = { readonly port: number } | Seen;
export type Question = Ask | { readonly kind: "port" };

class Inbox {
  readonly arrivals: { readonly eventId: string; readonly atMs: number }[] = [];
  sample: Seen["sample"] = { headers: {}, body: "" };
  wanted: { readonly posts: number; readonly tell: (seen: Seen) => void } | undefined;

  tellWhenAll(): void {
    const { wanted, arrivals, sample } = this;
    if (wanted === undefined || arrivals.length < wanted.posts) return;
    this.wanted = undefined;
    wanted.tell({ arrivals: arrivals.splice(0), sample });
  }
}

const inboxes = new Map<string, Inbox>();
const held: ServerResponse[] = [];
let isHeld = false;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => void chunks.push(chunk));
  request.on("end", () => {
    const atMs = nowMs();
    const [, way, key = ""] = (request.url ?? "/").split("/");
    if (way === "hang" && isHeld) held.push(response);
    else answer(response);
    note(inboxOf(key), request, atMs, chunks);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1");
await once(server, "listening");

function answer(response: ServerResponse): void {
  response.writeHead(200, { "content-length": 2 }).end("ok");
}

function inboxOf(key: string): Inbox {
  const known = inboxes.get(key);
  if (known !== undefined) return known;
  const made = new Inbox();
  inboxes.set(key, made);
  return made;
}

function note(inbox: Inbox, { headers }: IncomingMessage, atMs: number, chunks: readonly Buffer[]): void {
  inbox.arrivals.push({ eventId: String(headers["webhook-id"]), atMs });
  if (inbox.wanted === undefined || inbox.arrivals.length < inbox.wanted.posts) return;
  const named = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  inbox.sample = { headers: Object.fromEntries(named), body: Buffer.concat(chunks).toString() };
  inbox.tellWhenAll();
}

answerQuestions<Question, Told>((question) => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  const done = { port: address.port };
  switch (question.kind) {
    case "port":
      return Promise.resolve(done);
    case "expect":
      return new Promise((tell) => {
        const inbox = inboxOf(question.key);
        inbox.wanted = { posts: question.posts, tell };
        inbox.tellWhenAll();
      });
    case "hold":
      isHeld = true;
      return Promise.resolve(done);
    case "release":
      isHeld = false;
      for (const response of held.splice(0)) answer(response);
      return Promise.resolve(done);
  }
});
