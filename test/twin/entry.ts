// The first module of a Worker in the twin: the uploaded one's handlers and objects, with the way between them and a count of the timers of each
// object. The uploaded modules are not changed.
import { type Delay, drawMs } from "./weather.ts";

/** Runs before the uploaded modules, which may keep the timers that they find. */
export const TIMERS_MODULE = `
import { AsyncLocalStorage } from "node:async_hooks";
export const here = new AsyncLocalStorage();
export const { setTimeout: later } = globalThis;
const { clearTimeout: never } = globalThis;
globalThis.setTimeout = (work, ms, ...args) => {
  const object = here.getStore();
  if (object === undefined) return later(work, ms, ...args);
  const timer = later((...given) => { object.timers.delete(timer); return work(...given); }, ms, ...args);
  object.timers.add(timer);
  if (object.timers.size > object.most) { object.most = object.timers.size; object.tell(object); }
  return timer;
};
globalThis.clearTimeout = (timer) => {
  here.getStore()?.timers.delete(timer);
  return never(timer);
};
`;

/** Calls of objects are told by so many at once. */
const CALLS_TOLD = 50;

/** Objects that keep the code, the variables and the secrets that they had when they were made. */
export interface OlderObjects {
  /** Its main module, as it is imported. */
  readonly uploaded: string;
  readonly ids: readonly string[];
  /** Names of all its bindings, and the texts of those that are texts. */
  readonly bindings: readonly string[];
  readonly texts: Readonly<Record<string, string>>;
}

/** Each object is of the older release or of this one from its construction on, as in production, where nobody asks for a class but for an object. */
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

export function entryModule(uploaded: string, classes: readonly string[], hop: Delay, older?: OlderObjects): string {
  return `
import { here, later } from "./twin-timers.js";
import * as uploaded from ${JSON.stringify(uploaded)};
const hop = ${JSON.stringify(hop)};
const drawMs = ${drawMs};
const way = () => (hop.p50 <= 0 ? undefined : new Promise((go) => later(go, drawMs(hop, Math.random))));
let calls = 0;
function count(env) {
  calls += 1;
  if (calls % ${CALLS_TOLD} === 0) void env.TWIN.fetch("http://twin/calls?n=${CALLS_TOLD}").catch(() => {});
}
function inTwin(Base, name) {
  class Twin extends Base {
    constructor(ctx, env) {
      const tell = ({ most }) => { if (most > 2) void env.TWIN.fetch("http://twin/timers?" + new URLSearchParams({ name, id: ctx.id.toString(), most })).catch(() => {}); };
      const object = { timers: new Set(), most: 0, tell, env };
      void env.TWIN.fetch("http://twin/made?" + new URLSearchParams({ made: ctx.id.toString() })).catch(() => {});
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
      return here.run(this.twin, async () => { await way(); return value.apply(this, args); });
    };
  }
  return Twin;
}
export default uploaded.default;
${older === undefined ? classes.map((name) => `export const ${name} = inTwin(uploaded.${name}, ${JSON.stringify(name)});`).join("\n") : eitherModule(classes, older)}
`;
}
