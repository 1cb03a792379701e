import { afterEach, describe, expect, it, vi } from "vitest";
import { log, logAlert, logLine, safeError, safeMessage, unattended } from "../../../src/lib/log.ts";

const QUERY = 'Failed query: insert into "x" values (?)\nparams: secret';

/** An error of D1, wrapped by drizzle. */
const wrapped = (cause?: unknown) => new Error(QUERY, { cause });

const circle = new Error("round");
circle.cause = circle;

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a log line", () => {
  it("is one JSON object, written with the console method for its level", () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    logAlert("a mail was lost", { tries: 3 });
    log("warn", { provider: "google" });
    expect(error.mock.calls).toEqual([['{"level":"error","alert":"a mail was lost","tries":3}']]);
    expect(warn.mock.calls).toEqual([['{"level":"warn","provider":"google"}']]);
    expect(logLine("error", {})).toBe('{"level":"error"}');
  });

  it("is written when background work fails", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    await unattended(Promise.resolve("done"));
    expect(warn.mock.calls).toEqual([]);
    await unattended(Promise.reject(wrapped(new Error("the queue is full"))));
    expect(warn.mock.calls.map(([line]) => JSON.parse(line))).toMatchObject([
      { level: "warn", work: "background", error: "Error: the queue is full" },
    ]);
  });

  it.each([
    ["an error", new TypeError("no such wallet"), "no such wallet", "TypeError: no such wallet"],
    ["the cause of a failed query", wrapped(new Error("D1_ERROR: overloaded")), "D1_ERROR: overloaded"],
    ["a failed query without a cause", wrapped(), "a query failed", "a query failed"],
    ["a failed query within an error", new Error("outer", { cause: wrapped() }), "a query failed", "a query failed"],
    [
      "a thrown value that is not an error",
      "secret",
      "a thrown value that is not an Error",
      "a thrown value that is not an Error",
    ],
    ["causes in a cycle", circle, "round"],
  ])("describes %s without its secrets", (_, thrown, message, named = `Error: ${message}`) => {
    expect(safeMessage(thrown)).toBe(message);
    expect(safeError(thrown).error).toBe(named);
    expect(JSON.stringify(safeError(thrown))).not.toContain("secret");
  });
});
