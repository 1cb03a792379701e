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

export function entryModule(uploaded: string, classes: readonly string[], hop: Delay): string {
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
${classes.map((name) => `export const ${name} = inTwin(uploaded.${name}, ${JSON.stringify(name)});`).join("\n")}
`;
}
