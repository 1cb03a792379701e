// Calls operations as the npm client does, loses the first request or its answer on the way, and compares the final answer with the OpenAPI document.
import { expect } from "vitest";
import { type Request as ClientRequest, send, type Transport } from "../../../client/request.ts";
import { SPECS } from "../../../src/app/app.ts";
import type { RouteSpec } from "../../../src/platform/http/route.ts";
import type { Answer, Ask } from "../../support/access.ts";
import { pathOf } from "../../support/access-attempt.ts";
import { ONCE_ONLY } from "../../support/access-table.ts";
import { misfits } from "../../support/json-schema.ts";
import { document, operationOf } from "./reference-harness.ts";

/** What is lost, once for each call that changes something: the request before it arrives, or the answer after the work was done. */
export type Lost = "REQUEST" | "ANSWER";

/** Sends requests as one user. */
export type Caller = (path: string, ask?: Ask) => Promise<Answer>;

interface Of {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of a page's form. */
  readonly form?: Readonly<Record<string, string>>;
}

export class Walk {
  /** Operations that have succeeded, with a response that matches the OpenAPI document. */
  readonly reached = new Set<string>();
  /** Errors that the client reported although the work was done, or would have been done by a repeated request. */
  readonly falseErrors: string[] = [];
  readonly #lost: Lost;

  constructor(lost: Lost) {
    this.#lost = lost;
  }

  async call(operationId: string, as: Caller, of: Of = {}): Promise<Readonly<Record<string, unknown>>> {
    const spec = SPECS.find((each) => each.operationId === operationId);
    if (spec === undefined) throw new Error(`there is no ${operationId}`);
    const isOfClient = spec.method !== "GET" && !spec.isPage && spec.callers !== "KEY";
    const isCut = isOfClient && !ONCE_ONLY.includes(operationId);
    const path = `${pathOf(spec, of.params)}${of.query ?? ""}`;
    const answer = isCut ? await this.#cut(spec, as, path, of) : await as(path, plainAsk(spec, of));
    expect(answer.status, `${operationId}: ${answer.text}`).toBeLessThan(400);
    expectDocumented(spec, answer);
    if (answer.status < 300) this.reached.add(operationId);
    return answer.json ?? {};
  }

  /** Sends the call through the client; its first request, or the answer to it, is lost. */
  async #cut(spec: RouteSpec, as: Caller, path: string, { body, headers: more }: Of): Promise<Answer> {
    const attempts: Answer[] = [];
    let count = 0;
    const transport: Transport = {
      apiKey: "none",
      maxRetries: 2,
      timeoutMs: 100_000,
      backoff: { baseMs: 1, capMs: 1 },
      fetch: async (_, init) => {
        count += 1;
        if (count === 1 && this.#lost === "REQUEST") throw new TypeError("the request is lost");
        const headers = Object.fromEntries(new Headers(init?.headers));
        delete headers["x-api-key"];
        const text = init?.body ?? undefined;
        const answer = await as(path, { method: spec.method, headers: { ...headers, ...more }, body: text });
        attempts.push(answer);
        if (count === 1) throw new TypeError("the answer is lost");
        return new Response(answer.text === "" ? null : answer.text, { status: answer.status });
      },
    };
    const request: ClientRequest = { method: spec.method, url: path, route: spec.operationId, body };
    try {
      await send(transport, request, {});
    } catch (error) {
      this.falseErrors.push(`${spec.operationId}: ${error}`);
    }
    const [first, last] = [attempts[0], attempts.at(-1)];
    if (first === undefined || last === undefined) throw new Error(`no request of ${spec.operationId} arrived`);
    if (this.#lost === "REQUEST") return last;
    if (spec.isIdempotent && last.status < 400) {
      const told = [last.status, last.text, last.headers.get("idempotent-replayed")];
      if (told.join() !== [first.status, first.text, "true"].join())
        this.falseErrors.push(`${spec.operationId}: another answer than the first, ${told}`);
    }
    // Returns the first answer if the last one is a refusal, so that the walk can continue.
    return last.status < 400 ? last : first;
  }
}

function plainAsk({ method }: RouteSpec, { body, headers, form }: Of): Ask {
  if (form === undefined) return { method, headers: headers ?? {}, body };
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return { method, headers: { ...type, ...headers }, body: new URLSearchParams(form).toString() };
}

/** Checks that the document has the status of the success, and that the content is as documented. */
function expectDocumented(spec: RouteSpec, { status, headers, text }: Answer): void {
  const documented = operationOf(spec).responses[status];
  expect(documented, `${spec.operationId} answered ${status}`).toBeDefined();
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  const content = documented?.content ?? {};
  const [, media] = Object.entries(content).find(([name]) => isOf(name, type)) ?? [];
  if (Object.keys(content).length > 0 && text !== "")
    expect(media, `${spec.operationId} answered ${type}, not ${Object.keys(content)}`).toBeDefined();
  if (type !== "application/json" && type !== "application/jsonl") return;
  const values = type === "application/json" ? [text] : text.split("\n").filter((line) => line !== "");
  for (const value of values)
    expect(misfits(document, media?.schema ?? {}, JSON.parse(value)).join(), spec.operationId).toBe("");
}

/** Whether a media type is the documented type, or matches a documented range such as `image/*`. */
function isOf(documented: string, type: string): boolean {
  return documented === type || (documented.endsWith("/*") && type.startsWith(documented.slice(0, -1)));
}
