// One call of the API, typed by its operation. The session is in a cookie, and the browser adds the `Origin` header, without which the service
// refuses writes.
import { connection } from "./connection.ts";
import { ApiError, ConnectionError } from "./errors.ts";
import { type Operations, ROUTES } from "./operations.ts";
import { stepUp } from "./step-up.ts";

export type OperationId = keyof Operations;
export type AnswerOf<K extends OperationId> = Operations[K]["answer"];

/** An operation's input. Only merchant routes need `merchantId`. */
export type InputOf<K extends OperationId> = Omit<Operations[K], "answer"> & { readonly merchantId?: string };

/** The parts that the input of any operation may have. */
interface Input {
  readonly merchantId?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** For a call that creates something: the same key for every attempt to make one change. */
  readonly idempotencyKey?: string | undefined;
  /** Called around each request, for example to pause other requests meanwhile. The step-up dialog is not wrapped. */
  readonly around?: (<T>(sending: () => Promise<T>) => Promise<T>) | undefined;
}

/** Throws ApiError, ConnectionError, or StepUpCancelled. A call that needs a recent factor waits for it and is then resent. */
export async function call<K extends OperationId>(
  operation: K,
  input: InputOf<K>,
  options: CallOptions = {},
): Promise<AnswerOf<K>> {
  const { around = (sending) => sending() } = options;
  const sending = () => send(operation, input, options);
  try {
    return await around(sending);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "STEP_UP_REQUIRED") throw error;
    await stepUp.ask();
    return around(sending);
  }
}

async function send<K extends OperationId>(
  operation: K,
  input: Input,
  { signal, idempotencyKey }: CallOptions,
): Promise<AnswerOf<K>> {
  const { method, url } = targetOf(operation, input);
  const headers = new Headers({ accept: "application/json" });
  if (input.body !== undefined) headers.set("content-type", "application/json");
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  const body = input.body === undefined ? null : JSON.stringify(input.body);
  const answer = await fetched(url, { method, headers, body, signal: signal ?? null });
  const value = parsed(answer.text);
  if (!answer.isOk) throw new ApiError(answer.status, value ?? {});
  // The types come from the schemas of the service's answers.
  return value as AnswerOf<K>;
}

interface Answer {
  readonly isOk: boolean;
  readonly status: number;
  readonly text: string;
}

async function fetched(url: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, init);
    const text = await response.text();
    connection.found();
    return { isOk: response.ok, status: response.status, text };
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    connection.lost();
    throw new ConnectionError(cause);
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Method and URL of an operation, with its parameters filled in. */
export function targetOf(operation: OperationId, input: Input): { readonly method: string; readonly url: string } {
  const [method = "", pattern = ""] = ROUTES[operation].split(" ");
  const params: Readonly<Record<string, string | undefined>> = { merchantId: input.merchantId, ...input.params };
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  }
  // An empty cursor requests paging by cursor, without a count of all rows, which no page of the console shows.
  const isFirstPage = query.has("limit") && !["cursor", "page", "after"].some((name) => query.has(name));
  if (isFirstPage) query.set("cursor", "");
  const ending = query.size === 0 ? "" : `?${query}`;
  return { method, url: `${/^\/(api|dev)\//.test(pattern) ? "" : merchantPath(input)}${path}${ending}` };
}

function merchantPath({ merchantId }: Input): string {
  if (merchantId === undefined) throw new Error("a route of a merchant needs its id");
  return `/api/v1/merchants/merchant/${encodeURIComponent(merchantId)}`;
}
