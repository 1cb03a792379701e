// A proxy between a shop and Edgetill. It forwards requests, and on demand loses them or their answers.
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../../support/listen.ts";

export interface Gate {
  /** The URL that the shop uses for Edgetill. */
  readonly origin: string;
  /** Breaks the shop's connections from now on: before Edgetill has the request, or before the shop has the answer. */
  lose(what: "REQUESTS" | "ANSWERS"): void;
  pass(): void;
  /** The Idempotency-Key of each request for an invoice, in order. */
  readonly keys: readonly (string | undefined)[];
  close(): Promise<void>;
}

export async function openGate(target: string): Promise<Gate> {
  const keys: (string | undefined)[] = [];
  let lost: "REQUESTS" | "ANSWERS" | undefined;
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const { method, url = "", headers } = request;
    if (method === "POST" && url.endsWith("/invoices")) keys.push(headers["idempotency-key"]?.toString());
    if (lost === "REQUESTS") {
      request.socket.destroy();
      return;
    }
    const to = new URL(url, target);
    const onward = ask(to.href, { method, headers: { ...headers, host: to.host } }, (answer) => {
      if (lost === "ANSWERS") {
        answer.resume().once("close", () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.once("error", () => request.socket.destroy());
    request.pipe(onward);
  };
  const { origin, close } = await listen(createServer(serve));
  return {
    origin,
    lose: (what) => {
      lost = what;
    },
    pass: () => {
      lost = undefined;
    },
    keys,
    close,
  };
}
