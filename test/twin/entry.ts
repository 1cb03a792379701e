// The entry modules of the twin's Workers, around the unchanged uploaded modules. One module passes requests to the uploaded handlers. The other one
// runs the objects with their own clock, routes calls to them, refuses some calls or loses their answers, and counts each object's timers.
import { OBJECT_MESSAGES } from "./faults.ts";
import { type Delay, drawMs } from "./weather.ts";

/** Object calls are reported in batches of this size. */
const CALLS_TOLD = 10;

/** Must run before the uploaded modules, because they may capture the timer functions. */
export const TIMERS_MODULE = `
import { AsyncLocalStorage } from "node:async_hooks";
export const here = new AsyncLocalStorage();
export const { setTimeout: later } = globalThis;
const { clearTimeout: never } = globalThis;
globalThis.setTimeout = (work, ms, ...args) => {
  const object = here.getStore();
  if (object === undefined) return later(work, ms, ...args);
  const timer = later((...given) => { if (object.timers.delete(timer)) object.rest(); return work(...given); }, ms, ...args);
  object.timers.add(timer);
  object.wake();
  if (object.timers.size > object.most) { object.most = object.timers.size; object.tell(object); }
  return timer;
};
globalThis.clearTimeout = (timer) => {
  const object = here.getStore();
  if (object?.timers.delete(timer)) object.rest();
  return never(timer);
};
`;

/** How objects are called, and which clock they use. */
export interface Ways {
  readonly hop: Delay;
  /** How far the objects' clock is ahead of the edge's. */
  readonly clockMs: number;
  /** The share of calls that fail: half are refused before they start, half lose their answer. */
  readonly faults: number;
  /** The share of calls during which the object restarts: it loses its memory, and all pending calls get an error. */
  readonly resets: number;
}

/** Objects that keep the code, variables and secrets with which they were created. */
export interface OlderObjects {
  /** The main module of the older upload, as imported. */
  readonly uploaded: string;
  readonly ids: readonly string[];
  /** Names of all bindings of the older upload, and the values of text bindings. */
  readonly bindings: readonly string[];
  readonly texts: Readonly<Record<string, string>>;
}

/**
 * Decides in the constructor whether an object belongs to the older release or to this one, as in production, where callers address objects, not
 * classes.
 */
const eitherModule = (classes: readonly string[], { uploaded, ids, bindings, texts }: OlderObjects) => `
import { DurableObject } from "cloudflare:workers";
import * as older from ${JSON.stringify(uploaded)};
const ids = new Set(${JSON.stringify(ids)});
const bindings = new Set(${JSON.stringify([...bindings, "TWIN", "ASSETS"])});
const olderEnv = (env) => ({ ...Object.fromEntries(Object.entries(env).filter(([name]) => bindings.has(name))), ...${JSON.stringify(texts)} });
function either(Newer, Base, name) {
  const Older = Base === undefined ? Newer : inTwin(Base, name);
  return class extends DurableObject {
    constructor(ctx, env) {
      return ids.has(ctx.id.toString()) ? new Older(ctx, Older === Newer ? env : olderEnv(env)) : new Newer(ctx, env);
    }
  };
}
${classes.map((name) => `export const ${name} = either(inTwin(uploaded.${name}, "${name}"), older.${name}, "${name}");`).join("\n")}
`;

/** Loaded before all other modules, to give the Worker a clock of its own. */
export const clockModule = (clockMs: number) => `
const Real = globalThis.Date;
globalThis.Date = class Date extends Real {
  constructor(...of) { if (of.length === 0) super(Real.now() + ${clockMs}); else super(...of); }
  static now() { return Real.now() + ${clockMs}; }
};
`;

/** An object is awake, and billed, while it has a call or a timer open. */
const AWAKENESS = `let awakeMs = 0;
function awakeness() {
  let [open, sinceMs] = [0, 0];
  return {
    wake() { if (open++ === 0) sinceMs = Date.now(); },
    rest() { if (--open === 0) awakeMs += Math.max(0, Date.now() - sinceMs); },
  };
}
`;

/** Extends an object class: calls are delayed and may fail, and timers are counted. */
const IN_TWIN = `function inTwin(Base, name) {
  class Twin extends Base {
    constructor(ctx, env) {
      const say = ({ most }) => { if (most > 2) tell(env, { name, id: ctx.id.toString(), most }); };
      const object = { timers: new Set(), most: 0, tell: say, env, ctx, ...awakeness() };
      tell(env, { made: ctx.id.toString() });
      return here.run(object, () => { super(ctx, env); Object.defineProperty(this, "twin", { value: object, enumerable: false }); return this; });
    }
  }
  for (const method of Object.getOwnPropertyNames(Base.prototype)) {
    const { value } = Object.getOwnPropertyDescriptor(Base.prototype, method);
    if (method === "constructor" || typeof value !== "function") continue;
    Twin.prototype[method] = function (...args) {
      // Called by the object itself.
      if (here.getStore() === this.twin) return value.apply(this, args);
      count(this.twin.env);
      this.twin.wake();
      return here.run(this.twin, () => ask(this.twin, method, async () => value.apply(this, args))).finally(() => this.twin.rest());
    };
  }
  return Twin;
}
`;

/** The entrypoint of the objects' Worker for the edge, which is another process, and its binding there. */
export const GATEWAY = "TwinGateway";
/** The header that names a request's object, as JSON of its binding, name and options. */
const FOR_OBJECT = "x-twin-object";

const GATEWAY_CLASS = `
export class ${GATEWAY} extends WorkerEntrypoint {
  call([binding, ...of], method, args) { return this.env[binding].getByName(...of)[method](...args); }
  fetch(request) {
    const [binding, ...of] = JSON.parse(request.headers.get("${FOR_OBJECT}"));
    return this.env[binding].getByName(...of).fetch(request);
  }
}
`;

/** Gives the edge its objects, by binding. Errors of the connection itself are reported as the platform's network errors. */
const BEHIND_GATEWAY = `
async function through(work) {
  try { return await work(); } catch (error) {
    if (error?.remote) throw error;
    throw Object.assign(new Error("Network connection lost."), { retryable: true, remote: true });
  }
}
function behindDoor(env, binding) {
  const stubOf = (...of) => {
    const address = [binding, ...of];
    const fetch = (...asked) => {
      const request = new Request(...asked);
      request.headers.set("${FOR_OBJECT}", JSON.stringify(address));
      return through(() => env.${GATEWAY}.fetch(request));
    };
    const call = (method) => (...args) => through(() => env.${GATEWAY}.call(address, method, args));
    // A stub must not look like a promise.
    return new Proxy({ fetch }, { get: (own, method) => own[method] ?? (method === "then" ? undefined : call(method)) });
  };
  return { getByName: stubOf };
}
`;

/** The module of the objects' Worker. Its handlers belong to the twin, and only the edge calls it. */
export function objectsModule(uploaded: string, classes: readonly string[], ways: Ways, older?: OlderObjects): string {
  return `
import "./twin-clock.js";
import { WorkerEntrypoint } from "cloudflare:workers";
import { here, later } from "./twin-timers.js";
import * as uploaded from ${JSON.stringify(uploaded)};
let ways = ${JSON.stringify(ways)};
const faults = ${JSON.stringify(OBJECT_MESSAGES)};
const drawMs = ${drawMs};
const one = (of) => of[Math.floor(Math.random() * of.length)];
const way = () => (ways.hop.p50 <= 0 ? undefined : new Promise((go) => later(go, drawMs(ways.hop, Math.random))));
const tell = (env, of) => env.TWIN.fetch("http://twin/?" + new URLSearchParams(of)).catch(() => {});
let calls = 0;
function count(env) {
  calls += 1;
  if (calls % ${CALLS_TOLD} !== 0) return;
  tell(env, { n: ${CALLS_TOLD}, awake: awakeMs });
  awakeMs = 0;
}
${AWAKENESS}
/** No one is notified if an alarm or a socket handler fails. */
const isCall = (method) => !/^(alarm|webSocket)/.test(method);
function fail(env, kind) {
  tell(env, { fault: kind });
  const flags = kind === "refused" ? { overloaded: true, remote: true } : { retryable: true, remote: true };
  throw Object.assign(new Error(one(faults[kind])), flags);
}
/** The reset happens at some moment of the call, or soon after it. */
const RESET_WITHIN_MS = 100;
const reset = ({ ctx, env }) => later(async () => { await tell(env, { fault: "reset" }); ctx.abort(new Error(one(faults.reset))); }, Math.random() * RESET_WITHIN_MS);
async function ask(object, method, work) {
  const { env } = object;
  if (isCall(method) && Math.random() < ways.resets) reset(object);
  const fault = isCall(method) && Math.random() < ways.faults ? one(["refused", "lost"]) : undefined;
  await way();
  if (fault === "refused") fail(env, fault);
  const answer = await work();
  if (fault === "lost") fail(env, fault);
  return answer;
}
${IN_TWIN}${GATEWAY_CLASS}export default { async fetch(request) { ways = { ...ways, ...(await request.json()) }; return new Response(""); } };
${older === undefined ? classes.map((name) => `export const ${name} = inTwin(uploaded.${name}, ${JSON.stringify(name)});`).join("\n") : eitherModule(classes, older)}
`;
}

/** How many requests with one key a rate limit binding allows in a period of seconds. */
export interface EdgeLimit {
  readonly limit: number;
  readonly period: number;
  /** The binding's counters: limits with the same number share them. */
  readonly namespace: string;
}

/**
 * The module of the Worker at the edge: the uploaded handlers, and the objects of these bindings behind them. Its rate limits are
 * counted in memory, as in production. The development server uses a Durable Object for each limit, which would be a call for every request.
 */
export function edgeModule(
  uploaded: string,
  objects: readonly string[],
  limits: Readonly<Record<string, EdgeLimit>>,
): string {
  return `
import * as uploaded from ${JSON.stringify(uploaded)};
const counters = new Map();
function limiter({ limit, period, namespace }) {
  const own = counters.get(namespace) ?? { window: 0, counts: new Map() };
  counters.set(namespace, own);
  return {
    async limit({ key }) {
      const now = Math.floor(Date.now() / (1_000 * period));
      if (now !== own.window) Object.assign(own, { window: now, counts: new Map() });
      const count = (own.counts.get(key) ?? 0) + 1;
      own.counts.set(key, count);
      return { success: count <= limit };
    },
  };
}
const limiters = Object.fromEntries(Object.entries(${JSON.stringify(limits)}).map(([name, of]) => [name, limiter(of)]));
const { default: handlers } = uploaded;
const known = new WeakMap();
${BEHIND_GATEWAY}
function inTwin(env) {
  const objects = Object.fromEntries(${JSON.stringify(objects)}.map((binding) => [binding, behindDoor(env, binding)]));
  const own = known.get(env) ?? { ...env, ...limiters, ...objects };
  known.set(env, own);
  return own;
}
export default {
  fetch: (request, env, context) => handlers.fetch(request, inTwin(env), context),
  queue: (batch, env, context) => handlers.queue(batch, inTwin(env), context),
  scheduled: (event, env, context) => handlers.scheduled(event, inTwin(env), context),
};
`;
}
