// JSON-RPC over HTTP, both 1.0 (Bitcoin Core) and 2.0: one call or a batch in one request. Unless `isPlain` is set, numbers are returned as their
// source text, so that no amount passes through a float. If a node refuses a call, the result is an `RpcError`; every other failure is an outage.
import * as z from "zod";
import { fetchExactJson, fetchPlainJson, type JsonText, type Outage, outage } from "../../lib/fetch-text.ts";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { ChainClientSettings } from "./chain-client.ts";

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The node understood the call and refused it. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
}

export type RpcAnswer = Result<JsonText, RpcError>;

export type RpcEdge = Pick<ChainClientSettings, "fetch" | "url" | "headers" | "timeoutMs"> & {
  /** The node writes quantities as text (EVM), so plain parsing loses nothing and is several times as fast. */
  readonly isPlain?: true;
};

/** Larger than any block on the supported chains. */
const LIMIT_BYTES = 32 * 1_048_576;

const ErrorMember = lazily(() => z.object({ code: z.coerce.number(), message: z.string() }));
const Answer = lazily(() =>
  z.object({
    id: z.union([z.string(), z.number().transform(String), z.null()]).optional(),
    result: z.unknown().optional(),
    error: ErrorMember().nullish(),
  }),
);

/** Many calls in one request. Returns the answers in the order of the calls; a missing answer fails the request. */
export async function rpcBatch(
  edge: RpcEdge,
  calls: readonly RpcCall[],
): Promise<Result<readonly RpcAnswer[], Outage>> {
  if (calls.length === 0) return ok([]);
  const body = calls.map((call, id) => ({ jsonrpc: "2.0", id, ...call }));
  const sent = await post(edge, JSON.stringify(body));
  if (!sent.ok) return sent;
  if (!Array.isArray(sent.value)) return refusal(sent.value);
  const answers = new Map<string, RpcAnswer>();
  for (const each of sent.value) {
    const parsed = answerOf(each);
    if (parsed === undefined) return err(outage("UNEXPECTED_SHAPE", "the answer is not JSON-RPC"));
    answers.set(parsed.id, parsed.answer);
  }
  const inOrder = calls.map((_, id) => answers.get(String(id)));
  return inOrder.every((answer) => answer !== undefined)
    ? ok(inOrder)
    : err(outage("UNEXPECTED_SHAPE", `${answers.size} answers to ${calls.length} calls`));
}

export async function rpcCall(
  edge: RpcEdge,
  method: string,
  params: readonly unknown[],
): Promise<Result<RpcAnswer, Outage>> {
  const sent = await post(edge, JSON.stringify({ jsonrpc: "2.0", id: 0, method, params }));
  if (!sent.ok) return sent;
  const parsed = answerOf(sent.value);
  return parsed === undefined ? refusal(sent.value) : ok(parsed.answer);
}

/** Makes a call and parses the result with a schema. Here a refused call is an outage too. */
export async function rpcValue<T>(
  edge: RpcEdge,
  schema: () => z.ZodType<T>,
  method: string,
  params: readonly unknown[],
): Promise<Result<T, Outage>> {
  const answer = await rpcCall(edge, method, params);
  if (!answer.ok) return answer;
  return answer.value.ok ? shaped(schema, answer.value.value, method) : err(outageOf(answer.value.error));
}

/** A node's refusal as an outage, for callers that do not need the reason. Throttling is recognised by code or message. */
export function outageOf({ code, message }: RpcError): Outage {
  const isThrottled =
    code === -32_005 || code === 429 || /rate limit|too many requests|request limit|throttl/i.test(message);
  return outage(isThrottled ? "RATE_LIMITED" : "REFUSED", `error ${code}`);
}

export function shaped<T>(schema: () => z.ZodType<T>, value: unknown, what: string): Result<T, Outage> {
  const parsed = schema().safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const at = parsed.error.issues[0]?.path.join(".") ?? "";
  return err(outage("UNEXPECTED_SHAPE", `${what}: ${at === "" ? "does not match the schema" : at}`));
}

function post(edge: RpcEdge, json: string): Promise<Result<JsonText, Outage>> {
  const { fetch, url, headers, timeoutMs, isPlain } = edge;
  const request = { fetch: tolerant(fetch), url, headers, timeoutMs, limitBytes: LIMIT_BYTES, json };
  return isPlain === true ? fetchPlainJson(request) : fetchExactJson(request);
}

/**
 * A node may give the reason for a refused call only in the body of an error: Bitcoin Core answers with 500 and JSON, and with 404 for an unknown
 * method. JSON with status 400, 404 or 500 is therefore read like a 200.
 */
function tolerant(fetch: RpcEdge["fetch"]): RpcEdge["fetch"] {
  return async (url, init) => {
    const response = await fetch(url, init);
    const isJson = (response.headers.get("content-type") ?? "").includes("json");
    if (!isJson || (response.status !== 500 && response.status !== 404 && response.status !== 400)) return response;
    return new Response(response.body, { status: 200, headers: response.headers });
  };
}

function answerOf(value: unknown): { readonly id: string; readonly answer: RpcAnswer } | undefined {
  const parsed = Answer().safeParse(value);
  if (!parsed.success) return undefined;
  const { id, result, error } = parsed.data;
  if (error !== null && error !== undefined) return { id: id ?? "", answer: err(error) };
  return result === undefined ? undefined : { id: id ?? "", answer: ok(jsonOf(result)) };
}

/** java-tron throttles with 200 and `{"Error": "..."}`; a gateway may answer with its own error object. */
function refusal(value: JsonText): Result<never, Outage> {
  const text = JSON.stringify(value).slice(0, 400);
  const isThrottled = /lack of computing resources|frequency limit|rate limit|too many requests/i.test(text);
  const parsed = Answer().safeParse(value);
  if (parsed.success && parsed.data.error) return err(outageOf(parsed.data.error));
  return err(outage(isThrottled ? "RATE_LIMITED" : "UNEXPECTED_SHAPE", "the answer is not JSON-RPC"));
}

function jsonOf(value: unknown): JsonText {
  return JsonValue().parse(value);
}

const JsonValue = lazily(() => z.custom<JsonText>((value) => value !== undefined));
