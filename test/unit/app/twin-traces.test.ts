// The search for traces of the twin in a bundle must find a switch for the twin, no matter what it is called.
import { describe, expect, it } from "vitest";
import { namesIn, SHARED_NAMES, tracesIn, twinSources } from "../../twin/traces.ts";

describe("the twin's names", () => {
  it.each([
    ["a constant", 'export const PLAYED_FAULTS = ["lost"];', "PLAYED_FAULTS"],
    ["members of a list", "  export const { setTimeout: later, playedClock } = globalThis;", "playedClock"],
    ["a function", "export async function shiftClock() {}", "shiftClock"],
    ["an export under another name", "export { faults as drawnFaults };", "drawnFaults"],
    ["a binding that the twin sets", "const worker = { serviceBindings: { STAND_IN: serve } };", "STAND_IN"],
    ["a binding that the twin reads", 'tell(env.Sandbox, env["FAULT_SHARE"]);', "FAULT_SHARE"],
    ["a module", 'import "./twin-clock.js";', "twin-clock"],
    ["a header", 'const HEADER = "x-twin-object";', "x-twin-object"],
  ])("include %s", (_, source, name) => {
    expect(namesIn([source])).toContain(name);
  });

  it("come from its own sources, and include every name that it shares with the service", () => {
    const names = namesIn(twinSources());
    expect(names).toEqual(
      expect.arrayContaining(["TWIN", "TwinGateway", "clockModule", "OBJECT_FAULTS", "twin-timers"]),
    );
    expect(names.length).toBeGreaterThan(100);
    expect(SHARED_NAMES.filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe("a bundle", () => {
  const names = namesIn(twinSources());

  it.each([
    ["the twin's binding", "if(e.TWIN)await e.TWIN.fetch(r);", "TWIN"],
    ["a variable of the twin's faults", "const s=Number(env.OBJECT_FAULTS??0);", "OBJECT_FAULTS"],
    ["a variable of its weather", 'if(env["QUIET_WEATHER"]==="on")return 0;', "QUIET_WEATHER"],
    ["its clock", "import{clockModule as a}from'./x.js';", "clockModule"],
    ["its entry point", "export class TwinGateway extends W{}", "TwinGateway"],
    ["its header", 'r.headers.get("x-twin-object")', "x-twin-object"],
    ["its module", 'import"./twin-clock.js";', "twin-clock"],
  ])("with %s is found", (_, bundle, trace) => {
    expect(tracesIn(bundle, names)).toContain(trace);
  });

  it("with a newly invented switch for the twin is found too", () => {
    const invented = namesIn([...twinSources(), "const worker = { bindings: { SLOW_DOWN: '1' } };"]);
    expect(tracesIn("if(env.SLOW_DOWN)await wait();", invented)).toEqual(["SLOW_DOWN"]);
    expect(tracesIn("if(env.SLOW_DOWNS)await wait();", invented)).toEqual([]);
  });

  it("may contain plain English words that the twin exports, and names that every deployment has", () => {
    expect(tracesIn('const words="twin good during";env.POLL_SECONDS;globalThis.setTimeout(f);', names)).toEqual([]);
  });
});
