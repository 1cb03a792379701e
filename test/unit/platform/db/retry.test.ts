import { describe, expect, it, vi } from "vitest";
import { Cancellation, requestSleep, sleep } from "../../../../src/lib/sleep.ts";
import {
  executeOnce,
  FAULT_MESSAGES,
  faultKind,
  OverloadedError,
  readWithRetry,
  TimeLimitError,
} from "../../../../src/platform/db/retry.ts";
import { FAULTS } from "../../../simulation/engine/world.ts";
import { inScriptedWorld, type Script } from "../../../support/scripted-world.ts";

const read = (fates: Script[string]) =>
  inScriptedWorld({ read: fates }, ({ effect, client, world }) =>
    readWithRetry(world.sleepOf(client), () => effect("read", () => 42)),
  );
const UNAVAILABLE = { ok: false, error: { code: "STORAGE_UNAVAILABLE" } };

describe("a read of storage", () => {
  it("is repeated at most twice after a lost answer", async () => {
    expect((await read([])).seen.read).toBe(1);
    expect(await read(["lost before", "answer lost"])).toMatchObject({
      result: { ok: true, value: 42 },
      seen: { read: 3 },
    });
    expect(await read(["lost before", "answer lost", "lost before"])).toMatchObject({
      result: UNAVAILABLE,
      seen: { read: 3 },
    });
  });

  it("has three seconds for each attempt", async () => {
    const stalled = await read(["hangs"]);
    expect(stalled).toMatchObject({ result: { ok: true, value: 42 }, seen: { read: 2 } });
    expect(stalled.elapsedMs).toBe(3_050);
    expect(await read(["hangs", "hangs", "hangs"])).toMatchObject({ result: UNAVAILABLE, elapsedMs: 9_150 });
  });

  it("that was refused because of overload tells its caller to retry later than a read that failed", async () => {
    const failing = (error: Error) => readWithRetry(sleep, () => Promise.reject(error));
    const wrapped = new Error("Failed query", { cause: new OverloadedError("calls have waited too long") });
    const later = { ok: false, error: { code: "STORAGE_UNAVAILABLE", retryAfterSeconds: 10 } };
    expect(await failing(new OverloadedError("a read has waited too long"))).toEqual(later);
    expect(await failing(wrapped)).toEqual(later);
    expect(await failing(new Error("D1_ERROR: D1 DB is overloaded. Too many requests queued."))).toEqual(UNAVAILABLE);
  });

  it("is repeated once when the database was reset for its CPU time or memory", async () => {
    for (const part of FAULT_MESSAGES.reset) {
      let calls = 0;
      const read = readWithRetry(
        async () => {},
        async () => {
          calls += 1;
          throw new Error(`D1_ERROR: D1 DB ${part}.`);
        },
      );
      expect([await read, calls]).toEqual([UNAVAILABLE, 2]);
    }
  });

  it("is not repeated when storage is overloaded", async () => {
    expect(await read(["overloaded"])).toMatchObject({ result: UNAVAILABLE, seen: { read: 1 }, elapsedMs: 0 });
  });

  it("passes on an error that is not a fault of storage", async () => {
    const bug = readWithRetry(sleep, async () => {
      throw new TypeError("undefined is not a function");
    });
    await expect(bug).rejects.toThrow(TypeError);
  });
});

describe("work that takes effect each time it is executed", () => {
  const count = (fates: Script[string]) =>
    inScriptedWorld({ count: fates }, ({ effect, client, world }) =>
      executeOnce(world.sleepOf(client), () => effect("count", () => 42)).catch((error: unknown) => faultKind(error)),
    );

  it.each(["lost before", "answer lost", "overloaded"] as const)("is not repeated after a fault: %s", async (fate) => {
    expect(await count([fate])).toMatchObject({
      result: fate === "overloaded" ? "overloaded" : "transient",
      seen: { count: 1 },
    });
  });

  it("has as much time as all attempts of a read together", async () => {
    expect(await count(["hangs"])).toMatchObject({ result: "transient", seen: { count: 1 }, elapsedMs: 9_000 });
  });

  it("is repeated while another program locks the file of the development server, because nothing was executed", async () => {
    const pauses: number[] = [];
    const locked = new Error("D1_ERROR: database is locked: SQLITE_BUSY");
    const held = (times: number) => {
      const work = vi.fn(async () => 42);
      for (let time = 0; time < times; time++) work.mockRejectedValueOnce(locked);
      return work;
    };
    const waiting = (ms: number) => {
      if (ms > 1_000) return new Promise<void>(() => {});
      pauses.push(ms);
      return Promise.resolve();
    };
    await expect(executeOnce(waiting, held(2))).resolves.toBe(42);
    expect(pauses).toEqual([50, 100]);
    await expect(executeOnce(waiting, held(3))).rejects.toThrow("SQLITE_BUSY");
  });
});

describe("an error of storage or of a Durable Object", () => {
  const flagged = (flags: object) => Object.assign(new Error("jsg.Error: something"), flags);
  it.each([
    ["a lost connection", new Error("D1_ERROR: Network connection lost."), "transient"],
    [
      "a lost connection inside drizzle's error",
      new Error("Failed query: x", { cause: new Error("Network connection lost.") }),
      "transient",
    ],
    ["an object reset by a new version", new Error("Durable Object reset because its code was updated."), "transient"],
    [
      "a method that the object's release lacks",
      new TypeError('The RPC receiver does not implement the method "keep".'),
      "transient",
    ],
    [
      "an object that still runs the previous release",
      new TypeError("The Durable Object's code has been updated, this version can no longer access storage."),
      "transient",
    ],
    [
      "an object of the previous release, which has no such method",
      new TypeError('The RPC receiver does not implement the method "keepRevocations".'),
      "transient",
    ],
    [
      "an object that has moved",
      new Error("cannot access storage because object has moved to a different machine"),
      "transient",
    ],
    [
      "a database that another query brought down",
      new Error("D1_ERROR: D1 DB exceeded its CPU time limit and was reset."),
      "reset",
    ],
    [
      "an object whose isolate is out of memory",
      new Error("Durable Object's isolate exceeded its memory limit and was reset."),
      "reset",
    ],
    ["our own time limit", new TimeLimitError("late"), "transient"],
    ["an error marked as safe to repeat", flagged({ retryable: true }), "transient"],
    [
      "an error marked as safe to repeat inside drizzle's error",
      new Error("Failed query: x", { cause: flagged({ retryable: true }) }),
      "transient",
    ],
    [
      "an error marked as overloaded, although also as safe to repeat",
      flagged({ retryable: true, overloaded: true }),
      "overloaded",
    ],
    ["a full queue", new Error("D1_ERROR: D1 DB is overloaded. Requests queued for too long."), "overloaded"],
    [
      "an account without capacity",
      new Error("D1_ERROR: Your account has exceeded D1's maximum account storage limit, please contact Cloudflare"),
      "overloaded",
    ],
    ["a file that another program has locked", new Error("database is locked: SQLITE_BUSY"), "transient"],
    ["a mistake in SQL", new Error("D1_ERROR: no such table: x: SQLITE_ERROR"), "other"],
    ["a bound value that reads like a fault", new Error("Failed query: x params: Network connection lost"), "other"],
    ["a value that is not an error", "Network connection lost.", "other"],
  ])("%s (%s) counts as %s", (_, error, kind) => {
    expect(faultKind(error)).toBe(kind);
  });
});

/** The full messages, as on the pages that FAULT_MESSAGES names. */
const DOCUMENTED = {
  transient: [
    "D1 DB reset because its code was updated.",
    "Internal error while starting up D1 DB storage caused object to be reset.",
    "Network connection lost.",
    "Internal error in D1 DB storage caused object to be reset.",
    "Cannot resolve D1 DB due to transient issue on remote node.",
    "Can't read from request stream because client disconnected.",
    "D1 DB storage operation exceeded timeout which caused object to be reset.",
    "Durable Object reset because its code was updated.",
    "Connection closed: this Durable Object instance is no longer active. Reconnect or retry the request.",
    "Durable Object storage operation exceeded timeout which caused object to be reset.",
    "The Durable Object's code has been updated, this version can no longer access storage.",
    // workerd
    "Durable Object storage is no longer accessible.",
    "Internal error in Durable Object storage caused object to be reset.",
    "A call to blockConcurrencyWhile() in a Durable Object waited for too long. The call was canceled and the Durable Object was reset.",
    "Actor exceeded event execution time and was disconnected.",
  ],
  overloaded: [
    "D1 DB is overloaded. Requests queued for too long.",
    "D1 DB is overloaded. Too many requests queued.",
    "Durable Object is overloaded. Too many requests queued.",
    "Durable Object is overloaded. Too much data queued.",
    "Durable Object is overloaded. Requests queued for too long.",
    "Durable Object is overloaded. Too many requests for the same object within a 10 second window.",
    "Your account is generating too much load on Durable Objects. Please back off and try again later.",
    "Your account is doing too many concurrent storage operations. Please back off and try again later.",
  ],
  reset: [
    "D1 DB's isolate exceeded its memory limit and was reset.",
    "D1 DB exceeded its CPU time limit and was reset.",
    "Durable Object exceeded its CPU time limit and was reset.",
    "Durable Object's isolate exceeded its memory limit and was reset.",
    // workerd
    "Durable Object's isolate exceeded its memory limit due to overflowing the storage cache. All objects in the isolate were reset.",
  ],
  // An error that the application itself causes.
  other: [
    "Durable Object was reset and rolled back to its last known good state because the application left the database in a state where constraints were violated: x",
  ],
} as const;

describe("a documented error", () => {
  it.each(
    Object.entries(DOCUMENTED).flatMap(([kind, messages]) => messages.map((message) => [message, kind] as const)),
  )("%s counts as %s", (message, kind) => {
    expect(faultKind(new Error(message))).toBe(kind);
    expect(faultKind(new Error(`D1_ERROR: ${message}`))).toBe(kind);
  });
});

describe("a fault that the simulators inject", () => {
  it.each(FAULTS.unknown)("leaves open whether the call took effect: $name", ({ error }) => {
    expect(["transient", "reset"]).toContain(faultKind(error));
  });

  it.each(FAULTS.rejected)("means that the call was rejected: $name", ({ error }) => {
    expect(faultKind(error)).toBe("overloaded");
  });
});

describe("the sleep function of a request", () => {
  it("wakes sleepers in the order in which they are due, in whatever order they started", async () => {
    vi.useFakeTimers();
    try {
      const rest = requestSleep();
      const woken: string[] = [];
      for (const [ms, name] of [
        [30, "late"],
        [1, "early"],
        [15, "between"],
      ] as const) {
        rest(ms).then(() => woken.push(name));
      }
      for (const step of [1, 14, 15]) await vi.advanceTimersByTimeAsync(step);
      expect(woken).toEqual(["early", "between", "late"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("returns at once for a cancelled sleeper, and wakes the others when they are due", async () => {
    const rest = requestSleep();
    const cancellation = new Cancellation();
    const other = rest(5);
    const slept = rest(1_000_000, cancellation);
    cancellation.cancel();
    await slept;
    await rest(1_000_000, cancellation);
    await other;
  });
});

describe("sleep", () => {
  it("ends at once when it is cancelled before it starts or while it lasts", async () => {
    const cancellation = new Cancellation();
    const slept = sleep(1_000_000, cancellation);
    cancellation.cancel();
    await slept;
    await sleep(1_000_000, cancellation);
    await sleep(0);
  });
});
