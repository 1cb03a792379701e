import type { AppContext } from "./context.ts";
import { answerHeaders } from "./security-headers.ts";

/** What a route answers when it does not refuse. */
export interface Reply {
  readonly status: number;
  /** JSON text, or another text with its content type among the headers; a stream where it may be too long to hold in memory. */
  readonly body: string | ReadableStream<Uint8Array> | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whole Set-Cookie headers. */
  readonly cookies?: readonly string[];
}

export function jsonReply(status: number, body: object): Reply {
  return { status, body: JSON.stringify(body) };
}

/** 204, or any answer without a body. */
export function emptyReply(status = 204): Reply {
  return { status, body: null };
}

/** The answer with the headers of all answers; `extra` are those of the route's kind, the reply's own win. */
export function replyResponse(c: AppContext, reply: Reply, extra: Readonly<Record<string, string>>): Response {
  const { status, body, headers, cookies = [] } = reply;
  const type = body === null ? {} : { "content-type": "application/json; charset=utf-8" };
  const response = new Response(body, {
    status,
    headers: answerHeaders(c.get("requestId"), { ...type, ...extra, ...headers }),
  });
  for (const cookie of cookies) response.headers.append("set-cookie", cookie);
  return response;
}
