import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Edgetill, type EdgetillOptions } from "../../../client/edgetill.ts";
import { listen } from "../../support/listen.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly atMs: number;
}

/** How to answer one request. */
export type Step = (response: ServerResponse, request: IncomingMessage) => void;

export const API_KEY = "sk_live_2mJ7Qx0f9ThisMustNeverBeSeen";
export const MERCHANT = "mer_01M7";

export const json =
  (status: number, body: object, headers: Record<string, string> = {}): Step =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", "x-request-id": "req_7", ...headers });
    response.end(JSON.stringify(body));
  };

export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Step =>
  json(status, { statusCode: status, message: `refused: ${code}`, error: "Error", code, requestId: "req_7" }, headers);

/** Closes the connection without an answer. */
export const reset: Step = (response) => response.destroy();

/** Sends less than its content-length announces, and closes the connection. */
export const cut: Step = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
  response.write("{", () => response.destroy());
};

/** Never answers. */
export const hang: Step = () => {};

/** Starts an answer and never ends it. */
export const stall: Step = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write("{");
};

interface ScriptedApi extends AsyncDisposable {
  readonly seen: readonly Seen[];
  readonly origin: string;
  client(options?: Partial<EdgetillOptions>): Edgetill;
}

/** A real loopback server that gives its answers in order and then repeats the last one, and a client with short waits. */
export async function scriptedApi(...steps: readonly [Step, ...Step[]]): Promise<ScriptedApi> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const atMs = Date.now();
    const body = await text(request);
    const step = steps[Math.min(seen.length, steps.length - 1)];
    seen.push({ method, url, headers, body, atMs });
    step?.(response, request);
  });
  const { origin, close } = await listen(server);
  return {
    seen,
    origin,
    client: (options = {}) =>
      new Edgetill({
        baseUrl: origin,
        apiKey: API_KEY,
        merchantId: MERCHANT,
        backoff: { baseMs: 2, capMs: 8 },
        ...options,
      }),
    [Symbol.asyncDispose]: close,
  };
}

/** The reason with which a promise rejects; a fulfilled promise fails the test. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
