// A connection that breaks: a loopback server that forwards requests up to the given write, then answers nothing.
import { createServer, type IncomingMessage } from "node:http";
import { listen } from "./listen.ts";

interface BrokenLine {
  readonly origin: string;
  /** Writes that reached the server, as method and path. */
  readonly writes: readonly string[];
  /**
   * The connection breaks at the write with this number, counted from 0: either before the write reaches the server, or after the server has executed
   * it but before its answer. Undefined repairs the connection.
   */
  breakAt(write: number | undefined, when: "before" | "after"): void;
  /** Changes the text of an answer in transit, by the request's path; unchanged by default. */
  alter: (path: string, text: string) => string;
  close(): Promise<void>;
}

export async function startBrokenLine(to: string): Promise<BrokenLine> {
  const writes: string[] = [];
  let [at, when, seen, isBroken]: [number | undefined, "before" | "after", number, boolean] = [
    undefined,
    "before",
    0,
    false,
  ];
  const server = createServer(async (request, response) => {
    const { method = "GET", url = "" } = request;
    const isWrite = method !== "GET";
    const isLast = isWrite && seen === at;
    if (isWrite) seen += 1;
    if (isBroken || (isLast && when === "before")) {
      isBroken = true;
      response.destroy();
      return;
    }
    if (isWrite) writes.push(`${method} ${url}`);
    const answer = await passOn(to, request);
    if (isLast) {
      isBroken = true;
      response.destroy();
      return;
    }
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(line.alter(url, await answer.text()));
  });
  const { origin, close } = await listen(server);
  const breakAt = (write: number | undefined, moment: "before" | "after") => {
    [at, when, seen, isBroken] = [write, moment, 0, false];
  };
  const line: BrokenLine = { origin, writes, breakAt, close, alter: (_, text) => text };
  return line;
}

async function passOn(to: string, request: IncomingMessage): Promise<Response> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const headers = new Headers();
  for (const name of ["x-api-key", "idempotency-key", "content-type", "accept"]) {
    const value = request.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  const { method = "GET", url = "" } = request;
  return fetch(`${to}${url}`, { method, headers, redirect: "manual", ...(body.length === 0 ? {} : { body }) });
}
