// The fake's HTTP layer: maps a request to an operation, checks in the order in which the API refuses, and uses the API's envelope and idempotency.

import { NO_BODY, type ParsedBody, readBody } from "../../src/platform/http/body.ts";
import { answerHeaders } from "../../src/platform/http/security-headers.ts";
import { fingerprint, keyHash, parseIdempotencyKey } from "../../src/platform/idempotency/idempotency-key.ts";
import { REMEMBERED_MS } from "../../src/platform/idempotency/key-reservations.ts";
import { ROUTES } from "../api-types.ts";
import { type FakeAnswer, OPERATIONS, PUBLIC_OPERATIONS } from "./operations.ts";
import { allowed, Refused, refusalAnswer } from "./refusal.ts";
import type { FakeState } from "./state.ts";

/** The two keys that the fake accepts. */
interface FakeKeys {
  readonly secretKey: string;
  readonly publicKey: string;
  /** The secret key's id, for decisions by hand. */
  readonly keyId: string;
}

/** The request for which an idempotency key was used. */
interface Reserved {
  readonly fingerprint: string;
  readonly expiresAtMs: number;
  /** Undefined if the request was refused: the same request then runs again. */
  answer: FakeAnswer | undefined;
}

type Done = FakeAnswer & { readonly isReplay: boolean };

/** Answers requests at `/api/v1/merchants/merchant/{merchantId}`. */
export class FakeRouter {
  readonly #state: FakeState;
  readonly #keys: FakeKeys;
  readonly #reserved = new Map<string, Reserved>();

  constructor(state: FakeState, keys: FakeKeys) {
    this.#state = state;
    this.#keys = keys;
  }

  async answer(request: Request): Promise<Response> {
    const requestId = this.#state.newId("req");
    try {
      const { status, text, isReplay } = await this.#run(request);
      return answer(status, text, requestId, isReplay ? { "idempotent-replayed": "true" } : {});
    } catch (error) {
      if (error instanceof NotOffered) return error.answer(requestId);
      if (error instanceof Refused) return refusalAnswer(error, requestId);
      throw error;
    }
  }

  async #run(request: Request): Promise<Done> {
    const { pathname, searchParams } = new URL(request.url);
    const [, merchantId = "", path] = /^\/api\/v1\/merchants\/merchant\/([^/]+)(\/.*)?$/.exec(pathname) ?? [];
    const { name, params } = routeOf(request.method, merchantId === "" ? undefined : (path ?? ""));
    const isPublic = this.#isPublic(request.headers.get("x-api-key"));
    if (merchantId !== this.#state.merchant.id) throw new Refused({ code: "MERCHANT_MISMATCH" });
    if (isPublic && !PUBLIC_OPERATIONS.includes(name)) throw new Refused({ code: "PUBLIC_KEY_FORBIDDEN" });
    const { json } = request.method === "GET" ? NO_BODY : allowed(await readBody(request));
    const run = OPERATIONS[name];
    if (run === undefined) throw new NotOffered(name);
    const query = Object.fromEntries([...searchParams].toReversed());
    const work = run(this.#state, { params, query, body: json, isPublic, actor: this.#keys.keyId });
    return request.method === "GET" ? { ...work(), isReplay: false } : this.#once(request, { isPublic, json }, work);
  }

  #isPublic(key: string | null): boolean {
    if (key === this.#keys.publicKey) return true;
    if (key !== this.#keys.secretKey) throw new Refused({ code: "UNAUTHORIZED" });
    return false;
  }

  /** Repeats the stored answer for the same key and request, for as long as the service would; a refused request runs again. */
  #once(
    { method, headers, url }: Request,
    { isPublic, json }: Pick<ParsedBody, "json"> & { readonly isPublic: boolean },
    work: () => FakeAnswer,
  ): Done {
    const key = allowed(parseIdempotencyKey(headerText(headers.get("idempotency-key") ?? "")));
    if (key === undefined) return { ...work(), isReplay: false };
    const nowMs = this.#state.now();
    const { id: merchantId } = this.#state.merchant;
    const print = fingerprint({ method, path: new URL(url).pathname, body: json });
    const hash = keyHash({ merchantId, keySpace: isPublic ? "public" : "secret", key });
    const known = this.#reserved.get(hash);
    const isKnown = known !== undefined && nowMs < known.expiresAtMs;
    if (isKnown && known.fingerprint !== print) throw new Refused({ code: "IDEMPOTENCY_KEY_REUSED" });
    if (isKnown && known.answer !== undefined) return { ...known.answer, isReplay: true };
    const fresh = { fingerprint: print, expiresAtMs: nowMs + REMEMBERED_MS, answer: undefined };
    const reserved: Reserved = isKnown ? known : fresh;
    this.#reserved.set(hash, reserved);
    reserved.answer = work();
    return { ...reserved.answer, isReplay: false };
  }
}

/** A response with JSON in the API's format. */
export function answer(
  status: number,
  text: string | null,
  requestId: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const type = text === null ? {} : { "content-type": "application/json; charset=utf-8" };
  return new Response(text, { status, headers: answerHeaders(requestId, { ...type, ...more }) });
}

/** A route of the API that the fake does not have. The client does not retry it. */
class NotOffered extends Error {
  readonly #name: string;

  constructor(name: string) {
    super(name);
    this.#name = name;
  }

  answer(requestId: string): Response {
    const message = `The fake does not do ${this.#name}: test it against a development server (npm start)`;
    const body = { statusCode: 501, message, error: "Not Implemented", code: "NOT_IN_FAKE", requestId };
    return answer(501, JSON.stringify(body), requestId);
  }
}

interface Found {
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
}

function routeOf(method: string, path: string | undefined): Found {
  const all = Object.entries(ROUTES).flatMap(([name, route]) => {
    const [of = "", pattern = ""] = route.split(" ");
    const params = path === undefined ? undefined : paramsIn(pattern, path);
    return params === undefined ? [] : [{ name, of, params }];
  });
  const found = all.find(({ of }) => of === method);
  if (found !== undefined) return found;
  if (all.length === 0) throw new Refused({ code: "ROUTE_NOT_FOUND" });
  throw new Refused({ code: "METHOD_NOT_ALLOWED", allow: all.map(({ of }) => of) });
}

function paramsIn(pattern: string, path: string): Found["params"] | undefined {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [place, part] of wanted.entries()) {
    const value = given[place] ?? "";
    const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
    if (name === undefined ? part !== value : value === "") return undefined;
    if (name !== undefined) params[name] = decodeURIComponent(value);
  }
  return params;
}

/**
 * The text of a header's value, which has one character per UTF-8 byte. A value with a character that does not fit into a byte is the text itself.
 */
function headerText(value: string): string {
  const bytes = Array.from(value, (character) => character.charCodeAt(0));
  return bytes.some((byte) => byte > 255) ? value : new TextDecoder().decode(Uint8Array.from(bytes));
}
