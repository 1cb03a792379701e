import { ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../failures.ts";
import type { AppContext } from "./context.ts";
import { answerHeaders } from "./security-headers.ts";

/** The successful response of a route. */
export interface Reply {
  readonly status: number;
  /** JSON text, or another text with a `content-type` in `headers`; a stream if the text may be too long for memory. */
  readonly body: string | ReadableStream<Uint8Array> | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Complete values of Set-Cookie headers. */
  readonly cookies?: readonly string[];
}

export function jsonReply(status: number, body: object): Reply {
  return { status, body: JSON.stringify(body) };
}

/** A response without a body. */
export function emptyReply(status = 204): Reply {
  return { status, body: null };
}

/** The result as JSON, or the refusal. */
export function replyTo<T>(
  done: Result<T, Failure>,
  bodyOf: (value: T) => unknown = (value) => value,
  status = 200,
): Result<Reply, Failure> {
  return done.ok ? ok({ status, body: JSON.stringify(bodyOf(done.value)) }) : done;
}

/** No body on success, or the refusal. */
export function emptyReplyTo(done: Result<unknown, Failure>): Result<Reply, Failure> {
  return done.ok ? ok(emptyReply()) : done;
}

/** The response with the headers of all responses. `extra`: headers of the route's kind; headers of the reply replace them. */
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
