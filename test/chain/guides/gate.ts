// What stands between a shop and Edgetill: it passes requests on, and loses answers when it is told to.
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../../support/listen.ts";

export interface Gate {
  /** What a shop takes for Edgetill. */
  readonly origin: string;
  /** From now on Edgetill gets each request, and the shop's connection breaks before the answer. */
  loseAnswers(): void;
  passAnswers(): void;
  /** The Idempotency-Key of each invoice that was asked for, in order. */
  readonly keys: readonly (string | undefined)[];
  close(): Promise<void>;
}

export async function openGate(target: string): Promise<Gate> {
  const keys: (string | undefined)[] = [];
  let isLosing = false;
  const pass = (request: IncomingMessage, response: ServerResponse) => {
    const { method, url = "", headers } = request;
    if (method === "POST" && url.endsWith("/invoices")) keys.push(headers["idempotency-key"]?.toString());
    const to = new URL(url, target);
    const onward = ask(to.href, { method, headers: { ...headers, host: to.host } }, (answer) => {
      if (isLosing) {
        answer.resume().once("close", () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.once("error", () => request.socket.destroy());
    request.pipe(onward);
  };
  const { origin, close } = await listen(createServer(pass));
  return {
    origin,
    loseAnswers: () => {
      isLosing = true;
    },
    passAnswers: () => {
      isLosing = false;
    },
    keys,
    close,
  };
}
