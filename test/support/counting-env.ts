// Bindings that record each call that leaves the Worker, with one entry for each D1 request and one for each method call on a Durable Object.
import { env } from "cloudflare:workers";

/** What was called, in order: `D1 read`, `D1 write` (one request, of one statement or a batch), `MERCHANT_OBJECT.reserve`. */
type Calls = string[];

const D1_REQUESTS = ["first", "all", "run", "raw"];
const OBJECTS = [
  "ADDRESS_ALLOCATOR",
  "AMOUNT_ALLOCATOR",
  "MERCHANT_OBJECT",
  "RATE_LIMITER",
  "RATE_BOOK",
  "CHECKOUT_ROOM",
] as const;

/** The test's bindings, with their calls recorded. `changes` are applied first, so calls to a stand-in are recorded too. */
export function countingEnv(changes: Partial<Env> = {}): { readonly bindings: Partial<Env>; readonly calls: Calls } {
  const calls: Calls = [];
  const whole: Env = { ...env, ...changes };
  const objects = OBJECTS.map((name) => [name, countingNamespace(whole[name], name, calls)]);
  return { bindings: { ...changes, DB: countingD1(whole.DB, calls), ...Object.fromEntries(objects) }, calls };
}

function countingD1(db: D1Database, calls: Calls): D1Database {
  const real = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
  const sqlOf = new WeakMap<D1PreparedStatement, string>();
  const note = (texts: readonly string[]) => calls.push(texts.every(isRead) ? "D1 read" : "D1 write");
  const counted = (statement: D1PreparedStatement, text: string): D1PreparedStatement => {
    const proxy = spy(statement, (name, call) => (...args) => {
      if (D1_REQUESTS.includes(name)) note([text]);
      const result = call(...args);
      return isStatement(result) ? counted(result, text) : result;
    });
    real.set(proxy, statement);
    sqlOf.set(proxy, text);
    return proxy;
  };
  return spy(db, (name, call) => (...args) => {
    if (name === "prepare") {
      const statement = call(...args);
      return isStatement(statement) ? counted(statement, String(args[0])) : statement;
    }
    if (name !== "batch") throw new Error(`D1's ${name} is not counted`);
    const statements = [args[0]].flat().filter(isStatement);
    note(statements.map((each) => sqlOf.get(each) ?? ""));
    return call(statements.map((each) => real.get(each) ?? each));
  });
}

/** Only prepared statements have `bind`. */
function isStatement(value: unknown): value is D1PreparedStatement {
  return typeof value === "object" && value !== null && "bind" in value;
}

/** A statement that is not a plain SELECT counts as a write. */
function isRead(text: string): boolean {
  return /^\s*select\b/i.test(text) || (/^\s*with\b/i.test(text) && !/\b(insert|update|delete|replace)\b/i.test(text));
}

function countingNamespace<T extends object>(namespace: T, binding: string, calls: Calls): T {
  return spy(namespace, (_, open) => (...args) => {
    const stub = open(...args);
    if (typeof stub !== "object" || stub === null) return stub;
    return spy(stub, (method, call) => (...given) => {
      calls.push(`${binding}.${method}`);
      return call(...given);
    });
  });
}

type Call = (...args: unknown[]) => unknown;

/** A copy of the object that passes each method call through `around`. Methods are looked up on the stub for each call, because RPC requires that. */
function spy<T extends object>(target: T, around: (name: string, call: Call) => Call): T {
  return new Proxy(target, {
    get(of, name) {
      const member: unknown = Reflect.get(of, name, of);
      if (typeof member !== "function" || typeof name !== "string") return member;
      return around(name, (...args) => Reflect.apply(member, of, args));
    },
  });
}
