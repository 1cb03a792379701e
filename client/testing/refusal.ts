// A refusal of the fake, thrown by whatever decides it and answered in the API's envelope, with the service's message.
import type { ErrorDetail } from "../errors.ts";
import { REFUSALS, RULES } from "./tables.ts";

/** A code that the fake answers. */
export type FakeCode = keyof typeof REFUSALS;

type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;
type Said<Code extends FakeCode> = Placeholder<(typeof REFUSALS)[Code]["message"]>;
/** What the message of a code speaks of must be given. */
type Facts<Code extends FakeCode> = [Said<Code>] extends [never] ? [facts?: object] : [Record<Said<Code>, string>];

export class Refused<Code extends FakeCode = FakeCode> extends Error {
  readonly code: FakeCode;
  /** Those of which the message does not speak are members of the answer. */
  readonly facts: object;

  constructor(code: Code, ...[facts = {}]: Facts<Code>) {
    super(filled(REFUSALS[code].message, facts));
    this.code = code;
    this.facts = facts;
  }
}

/** As the service does, the message is that of the first problem. */
export function invalid(details: readonly ErrorDetail[]): Refused {
  const [{ path, message } = { path: "", message: "" }] = details;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : "";
  const facts = { message: `${path === "" ? "" : `${path}: `}${message}${more}`, details };
  return new Refused("VALIDATION_FAILED", facts);
}

/** The problem of a rule that no schema has. */
export function ruleProblem(rule: keyof typeof RULES, facts: object = {}): ErrorDetail {
  const { path, message } = RULES[rule];
  return { path: filled(path, facts), message: filled(message, facts) };
}

/** A template with its facts. One that is not given is a mistake of the fake. */
export function filled(template: string, facts: object): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const fact: unknown = Reflect.get(facts, name);
    if (fact === undefined) throw new TypeError(`no ${name} is given for: ${template}`);
    return String(fact);
  });
}

/** The answer to a refusal. */
export function refusalAnswer({ code, message, facts }: Refused, requestId: string): Response {
  const { status, error, message: template } = REFUSALS[code];
  const others = Object.entries(facts).filter(([name]) => !template.includes(`{${name}}`));
  const body = { statusCode: status, message, error, code, requestId, ...Object.fromEntries(others) };
  return answer(status, body, requestId);
}

/** JSON as the API sends it. */
export function answer(status: number, body: unknown, requestId: string, more: Record<string, string> = {}): Response {
  const headers = { "content-type": "application/json; charset=utf-8", "x-request-id": requestId, ...more };
  // A status that has no body may be given none.
  return new Response(body === undefined ? null : JSON.stringify(body), { status, headers });
}
