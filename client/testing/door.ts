// The fake's HTTP: from a request to an operation, in the order in which the API refuses, with the envelope and the idempotency of the API.
import { ROUTES } from "../api-types.ts";
import { type FakeAnswer, type FakeRequest, OPERATIONS, PUBLIC_OPERATIONS } from "./operations.ts";
import { answer, Refused, refusalAnswer } from "./refusal.ts";
import type { FakeState } from "./state.ts";
import { SCHEMAS } from "./tables.ts";
import { type Bodies, bodyOf } from "./validate.ts";

/** Of the two keys that the fake knows. */
export interface FakeKeys {
  readonly secretKey: string;
  readonly publicKey: string;
  /** The secret key's id, for decisions by hand. */
  readonly keyId: string;
}

interface Remembered {
  readonly fingerprint: string;
  /** Undefined if it was refused: the same request runs again. */
  readonly answer: FakeAnswer | undefined;
  readonly untilMs: number;
}

const MOST_BYTES = 65_536;
const DAY_MS = 86_400_000;
/** Decided before the key is looked at. */
const BEFORE_THE_KEY: readonly string[] = ["VALIDATION_FAILED", "PUBLIC_KEY_FORBIDDEN", "UNSUPPORTED_PAIR"];
/** Answers requests at `/api/v1/merchants/merchant/{merchantId}`. */
export class FakeDoor {
  readonly #state: FakeState;
  readonly #keys: FakeKeys;
  readonly #remembered = new Map<string, Remembered>();

  constructor(state: FakeState, keys: FakeKeys) {
    this.#state = state;
    this.#keys = keys;
  }

  async answer(request: Request): Promise<Response> {
    const requestId = this.#state.newId("req");
    try {
      const { status, body, isReplay } = await this.#run(request);
      return answer(status, body, requestId, isReplay ? { "idempotent-replayed": "true" } : {});
    } catch (error) {
      if (error instanceof NotOffered) return error.answer(requestId);
      if (error instanceof Refused) return refusalAnswer(error, requestId);
      throw error;
    }
  }

  async #run(request: Request): Promise<FakeAnswer & { readonly isReplay: boolean }> {
    const { pathname, searchParams } = new URL(request.url);
    const [, merchantId = "", path] = /^\/api\/v1\/merchants\/merchant\/([^/]+)(\/.*)?$/.exec(pathname) ?? [];
    const { name, params } = routeOf(request.method, merchantId === "" ? undefined : (path ?? ""));
    const isPublic = this.#isPublic(request.headers.get("x-api-key"));
    if (merchantId !== this.#state.merchantId) throw new Refused("MERCHANT_MISMATCH");
    if (isPublic && !PUBLIC_OPERATIONS.includes(name)) throw new Refused("PUBLIC_KEY_FORBIDDEN");
    const body = await readBody(request);
    const run = OPERATIONS[name];
    if (run === undefined) throw new NotOffered(name);
    const query = Object.fromEntries([...searchParams].toReversed());
    const work = () => run(this.#state, { params, query, body, isPublic, actor: this.#keys.keyId });
    return request.method === "GET"
      ? { ...work(), isReplay: false }
      : this.#once(request, { name, pathname, body, isPublic }, work);
  }

  #isPublic(key: string | null): boolean {
    if (key === this.#keys.publicKey) return true;
    if (key !== this.#keys.secretKey) throw new Refused("UNAUTHORIZED");
    return false;
  }

  /** For 24 hours the same key and request have the same answer; what was refused runs again. */
  #once(
    request: Request,
    of: { readonly name: string; readonly pathname: string } & Pick<FakeRequest, "body" | "isPublic">,
    work: () => FakeAnswer,
  ): FakeAnswer & { readonly isReplay: boolean } {
    const key = headerText(request.headers.get("idempotency-key") ?? "");
    // What is invalid is refused as that, whatever was sent with the key before.
    if (isBodyName(of.name)) bodyOf(of.name, of.body);
    if ([...key].length > 255) throw new Refused("IDEMPOTENCY_KEY_INVALID");
    if (key === "") return { ...work(), isReplay: false };
    const place = `${of.isPublic} ${key}`;
    const fingerprint = `${request.method} ${of.pathname} ${canonical(of.body)}`;
    const known = this.#remembered.get(place);
    const isKnown = known !== undefined && this.#state.now() < known.untilMs;
    if (isKnown && known.fingerprint !== fingerprint) throw new Refused("IDEMPOTENCY_KEY_REUSED");
    if (isKnown && known.answer !== undefined) return { ...known.answer, isReplay: true };
    const remember = (first: FakeAnswer | undefined) =>
      this.#remembered.set(place, { fingerprint, answer: first, untilMs: this.#state.now() + DAY_MS });
    try {
      const { status, body } = work();
      // As it is now, whatever becomes of it.
      const first: FakeAnswer = { status, body: structuredClone(body) };
      remember(first);
      return { ...first, isReplay: false };
    } catch (error) {
      if (error instanceof Refused && !BEFORE_THE_KEY.includes(error.code)) remember(undefined);
      throw error;
    }
  }
}

/** A route of the API that the fake has not. No attempt of the client is repeated for it. */
class NotOffered extends Error {
  readonly #name: string;

  constructor(name: string) {
    super(name);
    this.#name = name;
  }

  answer(requestId: string): Response {
    const message = `The fake does not do ${this.#name}: test it against a development server (npm start)`;
    const body = { statusCode: 501, message, error: "Not Implemented", code: "NOT_IN_FAKE", requestId };
    return answer(501, body, requestId);
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
  if (all.length === 0) throw new Refused("ROUTE_NOT_FOUND");
  throw new Refused("METHOD_NOT_ALLOWED", { allow: all.map(({ of }) => of).join(", ") });
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

async function readBody(request: Request): Promise<unknown> {
  if (request.method === "GET") return undefined;
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length > MOST_BYTES) throw new Refused("BODY_TOO_LARGE");
  if (bytes.length === 0) return undefined;
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new Refused("UNSUPPORTED_MEDIA_TYPE");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    throw new Refused("MALFORMED_JSON");
  }
}

/** A header carries bytes of UTF-8, one a character; where it has other characters, they are the text. */
function headerText(value: string): string {
  const bytes = Array.from(value, (character) => character.charCodeAt(0));
  if (bytes.some((byte) => byte > 255)) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(Uint8Array.from(bytes));
  } catch {
    throw new Refused("IDEMPOTENCY_KEY_INVALID");
  }
}

/** JSON whose members are in the order of the alphabet. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

function isBodyName(name: string): name is keyof Bodies {
  return name in SCHEMAS && !name.startsWith("list");
}
