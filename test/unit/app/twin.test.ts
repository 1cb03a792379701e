// The parts of the twin that decide when things happen, compared with the documentation of D1 and Queues.
import { describe, expect, it, vi } from "vitest";
import { FAULT_MESSAGES, faultKind } from "../../../src/platform/db/retry.ts";
import { randomFrom } from "../../support/random.ts";
import { clockModule, edgeModule, objectsModule } from "../../twin/entry.ts";
import { ALL_FAULTS, D1_FAULTS, OBJECT_FAULTS } from "../../twin/faults.ts";
import { type Consume, Queues } from "../../twin/queues.ts";
import { drawMs, FAR, NEAR, USUAL } from "../../twin/weather.ts";

describe("a delay", () => {
  it.each([
    ["near", NEAR.read],
    ["usual", USUAL.write],
    ["far", FAR.read],
    ["a hop", NEAR.hop],
  ])("has the requested median and 99th percentile: %s", (_, delay) => {
    const random = randomFrom(1);
    const drawn = Array.from({ length: 40_000 }, () => drawMs(delay, random)).sort((a, b) => a - b);
    const at = (share: number) => drawn[Math.floor(drawn.length * share)] ?? 0;
    expect(at(0.5) / delay.p50).toBeCloseTo(1, 1);
    expect(at(0.99) / delay.p99).toBeGreaterThan(0.9);
    expect(at(0.99) / delay.p99).toBeLessThan(1.1);
  });
});

describe("the faults", () => {
  it.each(ALL_FAULTS.map((fault) => [fault.message, fault] as const))(
    "have a source and are classified by the service: %s",
    (_, fault) => {
      expect(fault.source).toMatch(/^https:\/\/\S+, .*20\d\d$/);
      const { message, kind } = fault;
      const thrown = D1_FAULTS.includes(fault) ? new Error(`D1_ERROR: ${message}`) : new Error(message);
      expect(faultKind(thrown)).toBe(kind);
      // An error of the kind "overloaded" means that the call was refused.
      expect(fault.isRefusal || kind !== "overloaded").toBe(true);
    },
  );

  it("include all eleven errors of D1, all four overloads of an object, and all resets that the service knows", () => {
    expect(D1_FAULTS).toHaveLength(11);
    const overloads = OBJECT_FAULTS.refused.filter(({ message }) =>
      message.startsWith("Durable Object is overloaded."),
    );
    expect(new Set(overloads.map(({ message }) => message)).size).toBe(4);
    const isPlayed = (part: string) => D1_FAULTS.some(({ message }) => message.toLowerCase().includes(part));
    expect(FAULT_MESSAGES.reset.every(isPlayed)).toBe(true);
  });
});

describe("a queue", () => {
  const until = async (isSo: () => boolean) => {
    for (let look = 0; look < 500 && !isSo(); look++) await new Promise((go) => setTimeout(go, 10));
    expect(isSo()).toBe(true);
  };
  const queueOf = (consume: Consume, twice = 0, maxRetries = 0) =>
    new Queues({
      consume,
      random: randomFrom(1),
      manners: { twice, latestMs: 0 },
      consumerOf: () => ({ script: "shop", batchSize: 1, maxRetries }),
    });

  it("delivers one batch at first, and more batches at once when the backlog is larger", async () => {
    let now = 0;
    const atOnce: number[] = [];
    const waiting: (() => void)[] = [];
    const queue = queueOf(async () => {
      now += 1;
      atOnce.push(now);
      await new Promise<void>((end) => waiting.push(end));
      now -= 1;
      return "ok";
    });
    for (let message = 0; message < 40; message++) queue.send("shop-jobs", { message });
    await until(() => waiting.length === 1);
    await new Promise((go) => setTimeout(go, 100));
    expect(atOnce).toEqual([1]);
    waiting[0]?.();
    await until(() => now > 2);
    queue.stop();
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(1 + 40 / 10);
    for (const end of waiting) end();
  });

  it("redelivers a message as often as its consumer's settings allow, and then stops", async () => {
    const attempts: number[] = [];
    const queue = queueOf(
      async (_, messages) => {
        attempts.push(...messages.map((message) => message.attempts));
        return "failed";
      },
      0,
      1,
    );
    queue.send("shop-webhooks", {});
    await until(() => attempts.length === 2 && queue.open === 0);
    await new Promise((go) => setTimeout(go, 50));
    queue.stop();
    expect(attempts).toEqual([1, 2]);
  });

  it("delivers some messages twice, with the same id", async () => {
    const ids: string[] = [];
    const queue = queueOf(async (_, messages) => {
      ids.push(...messages.map(({ id }) => id));
      return "ok";
    }, 0.5);
    for (let message = 0; message < 30; message++) queue.send("shop-jobs", { message });
    await until(() => queue.open === 0);
    queue.stop();
    expect(new Set(ids).size).toBe(30);
    expect(ids.length).toBeGreaterThan(35);
  });
});

/** The handlers of an edge's entry module, which wraps the `uploaded` handlers. */
function handlersIn(module: string, uploaded: object) {
  const body = module.replace(/^import .*$/m, "").replace("export default", "return");
  return new Function("uploaded", body)({ default: uploaded });
}

describe("the entry modules", () => {
  it("export each object class under its own name", () => {
    const text = objectsModule("./worker.js", ["MerchantObject", "RateBook"], {
      hop: NEAR.hop,
      clockMs: 100,
      faults: 0,
      resets: 0,
    });
    expect(text).toContain('export const MerchantObject = inTwin(uploaded.MerchantObject, "MerchantObject");');
    expect(text).toContain('export const RateBook = inTwin(uploaded.RateBook, "RateBook");');
  });

  it("let the edge call objects through the entry point, and report lost calls with the platform's message", async () => {
    const handlers = handlersIn(edgeModule("./worker.js", ["BOOK"], {}), {
      fetch: (
        name: string,
        env: { readonly BOOK: { getByName(...of: unknown[]): { rates(code: string): unknown } } },
      ) => env.BOOK.getByName(name, { locationHint: "weur" }).rates("EUR"),
    });
    const env = { TwinGateway: { call: async (...of: unknown[]) => JSON.stringify(of) }, BOOK: undefined };
    expect(await handlers.fetch("a", env, {})).toBe('[["BOOK","a",{"locationHint":"weur"}],"rates",["EUR"]]');
    const failing = (error: object) => ({ TwinGateway: { call: () => Promise.reject(error) } });
    const lost = { message: "Network connection lost.", retryable: true };
    await expect(handlers.fetch("a", failing(new Error("Peer disconnected.")), {})).rejects.toMatchObject(lost);
    const own = Object.assign(new Error("no such code"), { remote: true });
    await expect(handlers.fetch("a", failing(own), {})).rejects.toBe(own);
  });

  it("replace rate limits with counters in memory, by key and period, and leave all other bindings unchanged", async () => {
    const module = edgeModule("./worker.js", [], { SHIELD: { limit: 2, period: 60, namespace: "1" } });
    const fetch = (key: string, env: { readonly SHIELD: RateLimit; readonly NAME: string }) =>
      env.SHIELD.limit({ key }).then(({ success }) => `${env.NAME} ${success}`);
    const handlers = handlersIn(module, { fetch });
    const env = { SHIELD: undefined, NAME: "shop" };
    vi.useFakeTimers({ toFake: ["Date"], now: 60_000 });
    const ask = (key: string): Promise<string> => handlers.fetch(key, env, {});
    expect([await ask("a"), await ask("a"), await ask("a"), await ask("b")]).toEqual([
      "shop true",
      "shop true",
      "shop false",
      "shop true",
    ]);
    vi.setSystemTime(120_000);
    expect(await ask("a")).toBe("shop true");
    vi.useRealTimers();
  });

  it("count all requests of one namespace in one counter, and apply each binding's own limit", async () => {
    const limits = {
      WIDE: { limit: 3, period: 60, namespace: "1" },
      NARROW: { limit: 1, period: 60, namespace: "1" },
      OWN: { limit: 1, period: 60, namespace: "2" },
    };
    type Limits = Readonly<Record<keyof typeof limits, RateLimit>>;
    const fetch = (name: keyof typeof limits, env: Limits) => env[name].limit({ key: "a" }).then((of) => of.success);
    const handlers = handlersIn(edgeModule("./worker.js", [], limits), { fetch });
    vi.useFakeTimers({ toFake: ["Date"], now: 60_000 });
    const env = {};
    const ask = (name: keyof typeof limits): Promise<boolean> => handlers.fetch(name, env, {});
    expect([await ask("WIDE"), await ask("NARROW"), await ask("OWN"), await ask("WIDE"), await ask("WIDE")]).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
    vi.useRealTimers();
  });

  it("throw every object fault from the documentation, by its effect on the call", () => {
    const text = objectsModule("./worker.js", [], { hop: NEAR.hop, clockMs: 0, faults: 0, resets: 0 });
    const [, table = "{}"] = /^const faults = (.*);$/m.exec(text) ?? [];
    const messages = (faults: readonly { readonly message: string }[]) => faults.map(({ message }) => message);
    const { refused, lost, reset } = OBJECT_FAULTS;
    expect(JSON.parse(table)).toEqual({ refused: messages(refused), lost: messages(lost), reset: messages(reset) });
    expect(text).toContain("throw Object.assign(new Error(one(faults[kind])), flags);");
    expect(text).toContain("ctx.abort(new Error(one(faults.reset)))");
  });

  it("shift the clock, and leave explicit dates unchanged", () => {
    const dates = new Function(`const globalThis = { Date }; ${clockModule(5_000)} return globalThis.Date;`);
    const Apart: DateConstructor = dates();
    expect(Apart.now() - Date.now()).toBeGreaterThan(4_000);
    expect(new Apart().getTime() - Date.now()).toBeGreaterThan(4_000);
    expect(new Apart(7).getTime()).toBe(7);
    expect(new Apart(7)).toBeInstanceOf(Date);
  });
});
