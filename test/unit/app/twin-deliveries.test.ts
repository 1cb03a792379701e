// How the twin compares the delivery logs of endpoints with the events that were due and the requests that the receivers got.
import { describe, expect, it } from "vitest";
import {
  type EndpointLog,
  isOwed,
  type LoggedDelivery,
  type Webhook,
  wrongInAttempts,
  wrongInLog,
} from "../../twin/delivery-log.ts";
import { endpointLines } from "../../twin/report.ts";

const ON: Webhook = {
  events: ["*"],
  isActive: true,
  retryCount: 1,
  disabledReason: null,
  disabledAt: null,
  failuresInRow: 0,
};
const GONE: Webhook = { ...ON, isActive: false, disabledReason: "GONE", disabledAt: "2026-11-29T12:00:00.000Z" };
const OFF_MS = Date.parse("2026-11-29T12:00:00.000Z");

const delivery = (id: string, status: LoggedDelivery["status"], attempts: number, result?: number | string) => ({
  id: `dlv_${id}`,
  eventId: `evt_${id}`,
  status,
  attempts,
  lastAttempt:
    result === undefined
      ? null
      : {
          number: attempts,
          statusCode: typeof result === "number" ? result : null,
          error: typeof result === "string" ? result : null,
        },
});

const logOf = (webhook: Webhook, deliveries: readonly LoggedDelivery[], owed?: readonly string[]): EndpointLog => ({
  webhook,
  deliveries,
  owed: owed ?? deliveries.map(({ eventId }) => eventId),
});

const receiver = (manner: Parameters<typeof wrongInLog>[0]["manner"], posts: number, lastPostMs = 0) => ({
  manner,
  posts: new Map(["a", "b"].map((id) => [`dlv_${id}`, posts])),
  lastPostMs,
});

describe("a delivery log", () => {
  it.each([
    ["delivered", receiver("failing", 3), logOf(ON, [delivery("a", "SUCCEEDED", 3, 200)])],
    ["failed after all attempts", receiver("silent", 2), logOf(ON, [delivery("a", "FAILED", 2, "TIMEOUT")])],
    ["requested more often than recorded", receiver("silent", 3), logOf(ON, [delivery("a", "FAILED", 2, "TIMEOUT")])],
    [
      "waiting for the probe of its endpoint",
      receiver("silent", 2),
      logOf({ ...ON, failuresInRow: 20 }, [delivery("a", "PENDING", 1, "TIMEOUT")]),
    ],
    [
      "waiting for an endpoint that is gone",
      receiver("gone", 1, OFF_MS + 1_000),
      logOf(GONE, [delivery("a", "PENDING", 1, 410), delivery("b", "PENDING", 0)]),
    ],
  ])("may have a delivery that is %s", (_, observed, log) => {
    expect(wrongInLog(observed, log)).toEqual([]);
  });

  it.each([
    ["an event without a delivery", receiver("good", 1), logOf(ON, [], ["evt_a"]), "is not in the delivery log"],
    [
      "an event with two deliveries",
      receiver("good", 1),
      logOf(ON, [delivery("a", "SUCCEEDED", 1, 200), { ...delivery("b", "SUCCEEDED", 1, 200), eventId: "evt_a" }]),
      "is 2 times in the delivery log",
    ],
    ["an event that is not owed", receiver("good", 1), logOf(ON, [delivery("a", "SUCCEEDED", 1, 200)], []), "not owed"],
    ["a delivery that was forgotten", receiver("slow", 0), logOf(ON, [delivery("a", "PENDING", 0)]), "and not SUCCE"],
    ["a success without 2xx", receiver("good", 1), logOf(ON, [delivery("a", "SUCCEEDED", 1, 500)]), "and not SUCCE"],
    ["a success of silence", receiver("silent", 2), logOf(ON, [delivery("a", "SUCCEEDED", 2, 200)]), "nothing was acc"],
    ["a failure too early", receiver("refusing", 1), logOf(ON, [delivery("a", "FAILED", 1, 403)]), "FAILED after 1"],
    ["a retry too many", receiver("refusing", 3), logOf(ON, [delivery("a", "FAILED", 3, 403)]), "FAILED after 3"],
    ["a retry that never came", receiver("silent", 1), logOf(ON, [delivery("a", "PENDING", 1, "TIMEOUT")]), "PENDING"],
    ["a last attempt that leaves it waiting", receiver("silent", 2), logOf(ON, [delivery("a", "PENDING", 2)]), "last"],
    ["an attempt without a request", receiver("silent", 1), logOf(ON, [delivery("a", "FAILED", 2)]), "1 requests came"],
    ["an endpoint still on after 410", receiver("gone", 1), logOf(ON, [delivery("a", "PENDING", 1, 410)]), "not off"],
    [
      "requests to an endpoint that is off",
      receiver("gone", 1, OFF_MS + 60_000),
      logOf(GONE, [delivery("a", "PENDING", 1, 410)]),
      "still got requests",
    ],
    ["a working endpoint that is off", receiver("good", 1), logOf(GONE, []), "the endpoint is off"],
  ])("must not have %s", (_, observed, log, message) => {
    expect(wrongInLog(observed, log)).toEqual([expect.stringContaining(message)]);
  });

  it("must have every attempt of a delivery, each with the result that the receiver caused", () => {
    const timedOut = (number: number) => ({ number, statusCode: null, error: "TIMEOUT" });
    const whole = { id: "dlv_a", attempts: 2 };
    expect(wrongInAttempts({ manner: "silent" }, whole, [timedOut(2), timedOut(1)])).toEqual([]);
    expect(wrongInAttempts({ manner: "silent" }, whole, [timedOut(2)])).toEqual([
      "dlv_a: has 2 attempts, and the log has 2 (silent receiver)",
    ]);
    expect(
      wrongInAttempts({ manner: "gone" }, whole, [timedOut(1), { ...timedOut(2), statusCode: 410, error: null }]),
    ).toEqual(["dlv_a: an attempt ended with TIMEOUT, and not 410 (gone receiver)"]);
  });
});

describe("an endpoint", () => {
  it("is expected to get events of the types that it subscribes to, except the event that reports its own deactivation", () => {
    const type = (name: string) => ({ id: "evt_a", type: name });
    expect(isOwed(type("invoice.paid"), { events: ["invoice.*"], isActive: true })).toBe(true);
    expect(isOwed(type("payment.paid"), { events: ["invoice.*", "payment.detected"], isActive: true })).toBe(false);
    expect(isOwed(type("webhook.endpoint_disabled"), ON)).toBe(true);
    expect(isOwed(type("webhook.endpoint_disabled"), GONE)).toBe(false);
  });

  it("has a line in the printed results with its deliveries by state", () => {
    const tally = {
      manner: "gone",
      succeeded: 0,
      failed: 1,
      waiting: 40,
      attempts: 6,
      disabledReason: "GONE",
    } as const;
    expect(endpointLines([tally])).toEqual([
      "  deliveries to a gone endpoint: 0 delivered, 1 failed, 40 wait, after 6 attempts; switched off: GONE",
    ]);
  });
});
