// A proxy between a shop and Edgetill: it forwards requests, and loses them or their answers on demand.
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../../support/listen.ts";

export interface Gate {
  /** The URL the shop uses as Edgetill's. */
  readonly origin: string;
  /** From now on the shop's connections break: before Edgetill has the request, or before the shop has the answer. */
  lose(what: "REQUESTS" | "ANSWERS"): void;
  pass(): void;
  /** The Idempotency-Key of each requested invoice, in order. */
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
