// When a deployment is reported as degraded.
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { healthBodyOf } from "../../../src/notifications/deployment-status/health-body.ts";
import { parseDatabaseLimit } from "../../../src/notifications/deployment-status/settings.ts";
import {
  type CursorFacts,
  NEVER_TESTED,
  reasonsOf,
  type StatusSettings,
  type Vitals,
} from "../../../src/notifications/deployment-status/status.ts";

const NOW = 1_800_000_000_000;
const settings: StatusSettings = {
  networks: new Set(["ETH", "BTC_REGTEST"]),
  pollSeconds: null,
  databaseLimitBytes: 1_000,
  alertSettings: "set",
  fatalFaults: [],
};
const read: CursorFacts = {
  network: "ETH",
  height: 7,
  tipHeight: 7,
  passedMs: NOW,
  lastMovedAtMs: NOW,
  tickedAtMs: NOW,
  degradedSinceMs: null,
  isResting: false,
  quarantined: 0,
  quarantinedSinceMs: null,
  pausedAtMs: null,
  sources: [],
};
const well: Vitals = {
  cursors: [read],
  cronRanAtMs: NOW,
  setUpAtMs: 0,
  alertProof: { ...NEVER_TESTED, acceptedAtMs: 1, acceptedSettings: "set", provedAtMs: 2, provedSettings: "set" },
  databaseBytes: 800,
  unsettledInvoices: 3,
};
const codesOf = (changes: Partial<Vitals>, of = settings) =>
  reasonsOf({ ...well, ...changes }, of, NOW).map(({ code, network }) =>
    network === null ? code : `${code} ${network}`,
  );
const ofCursor = (changes: Partial<CursorFacts>, of = settings) => codesOf({ cursors: [{ ...read, ...changes }] }, of);
const ago = (minutes: number) => NOW - minutes * MINUTE_MS;
const STALE = ["CURSOR_STALE ETH"];

test("a deployment whose jobs run and whose networks are read is healthy", () => {
  expect(codesOf({})).toEqual([]);
});

describe("a cursor is stale", () => {
  it.each<readonly [string, Partial<CursorFacts>, readonly string[]]>([
    ["when its source has failed for five minutes", { degradedSinceMs: ago(5) }, STALE],
    ["not when its source has failed for less than five minutes", { degradedSinceMs: ago(5) + 1 }, []],
    ["when its watcher has not run for five minutes", { tickedAtMs: ago(5), lastMovedAtMs: ago(9) }, STALE],
    ["not when the watch has just restarted", { tickedAtMs: ago(500), lastMovedAtMs: NOW }, []],
    ["when it was never read in five minutes", { tickedAtMs: null, lastMovedAtMs: ago(5), height: null }, STALE],
    ["when the newest data is old, although passes succeed", { passedMs: ago(5) }, STALE],
    ["not at the tip of a private chain", { network: "BTC_REGTEST", passedMs: ago(500) }, []],
    [
      "below the tip of a private chain too",
      { network: "BTC_REGTEST", passedMs: ago(9), height: 6 },
      ["CURSOR_STALE BTC_REGTEST"],
    ],
    ["not while nothing is awaited", { isResting: true, passedMs: 0, lastMovedAtMs: 0, tickedAtMs: 0 }, []],
    ["not while an operator has paused it", { pausedAtMs: NOW, passedMs: 0, degradedSinceMs: 0 }, []],
    ["not on a network without a source", { network: "TRX", passedMs: 0 }, []],
  ])("%s", (_, changes, reasons) => {
    expect(ofCursor(changes)).toEqual(reasons);
  });

  it("only after a longer time on networks that are polled less often", () => {
    const seldom = { ...settings, pollSeconds: 600 };
    expect(ofCursor({ passedMs: ago(29), tickedAtMs: ago(10) }, seldom)).toEqual([]);
    expect(ofCursor({ passedMs: ago(30) }, seldom)).toEqual(STALE);
  });

  it("and remains stale, with the same start time, until something changes", () => {
    const ms = fc.integer({ min: NOW - 9 * HOUR_MS, max: NOW });
    const signs = fc.record({ passedMs: ms, lastMovedAtMs: ms, tickedAtMs: ms, degradedSinceMs: fc.option(ms) });
    fc.assert(
      fc.property(signs, fc.nat(9 * HOUR_MS), (found, laterMs) => {
        const vitals = { ...well, cursors: [{ ...read, ...found }], cronRanAtMs: NOW + laterMs };
        const [now] = reasonsOf(vitals, settings, NOW);
        const [later] = reasonsOf(vitals, settings, NOW + laterMs);
        if (now === undefined) return;
        expect(later?.code).toBe("CURSOR_STALE");
        expect(later?.sinceMs).toBeLessThanOrEqual(NOW - 5 * MINUTE_MS);
        expect(later?.sinceMs).toBe(now.sinceMs);
      }),
    );
  });
});

describe("other reasons to be degraded:", () => {
  it.each<readonly [string, Partial<Vitals>, readonly string[]]>([
    ["the jobs have not started for five minutes", { cronRanAtMs: ago(5) }, ["CRON_STOPPED"]],
    ["none if the jobs started a moment later", { cronRanAtMs: ago(5) + 1 }, []],
    ["the jobs have not started since the set-up", { cronRanAtMs: null, setUpAtMs: ago(5) }, ["CRON_STOPPED"]],
    ["none if the deployment was set up just now", { cronRanAtMs: null, setUpAtMs: ago(4) }, []],
    ["none if the deployment was never set up", { cronRanAtMs: null, setUpAtMs: null }, []],
    ["the database is above 80 % of its limit", { databaseBytes: 801 }, ["DATABASE_NEARLY_FULL"]],
    [
      "an address is quarantined, even on an idle network",
      { cursors: [{ ...read, isResting: true, quarantined: 2, quarantinedSinceMs: 5 }] },
      ["ADDRESS_QUARANTINED ETH"],
    ],
    ["none if invoices cannot be settled, which is only a warning", { unsettledInvoices: 9 }, []],
  ])("%s", (_, changes, reasons) => {
    expect(codesOf(changes)).toEqual(reasons);
  });

  it("the database is unavailable, or a fatal setting is invalid", () => {
    const of = { ...settings, fatalFaults: ["MASTER_KEY_INVALID"] };
    expect(codesOf({}, of)).toEqual(["CONFIGURATION_INVALID"]);
    expect(reasonsOf(undefined, of, NOW).map(({ code }) => code)).toEqual([
      "DATABASE_UNAVAILABLE",
      "CONFIGURATION_INVALID",
    ]);
  });
});

test("/healthz reports degraded if and only if there is a reason, and shows only configured networks", () => {
  const bodyOf = (vitals: Vitals | undefined) =>
    healthBodyOf({ version: "1", vitals, settings, faults: ["EXPLORERS_INVALID"], nowMs: NOW });
  const good = bodyOf({ ...well, cursors: [read, { ...read, network: "TRX", passedMs: 0 }] });
  expect(good).toMatchObject({ status: "ok", reasons: [], warnings: ["EXPLORERS_INVALID", "INVOICES_UNSETTLED"] });
  const unproved = bodyOf({ ...well, alertProof: NEVER_TESTED });
  expect(unproved).toMatchObject({ status: "ok", warnings: [...good.warnings, "ALERTS_UNPROVED"] });
  expect(bodyOf({ ...well, alertProof: NEVER_TESTED, setUpAtMs: null }).warnings).toEqual(good.warnings);
  for (const provedSettings of ["others", null])
    expect(bodyOf({ ...well, alertProof: { ...well.alertProof, provedSettings } }).warnings).toEqual(unproved.warnings);
  expect(Object.keys(good.networks)).toEqual(["BTC_REGTEST", "ETH"]);
  expect(bodyOf({ ...well, databaseBytes: 900 })).toMatchObject({
    status: "degraded",
    reasons: [{ code: "DATABASE_NEARLY_FULL", network: null, since: null, detail: expect.stringContaining("90%") }],
  });
  expect(bodyOf(undefined)).toMatchObject({ status: "degraded", database: "unavailable" });
});

test.each([
  ["", 10_000_000_000],
  ["0.5", 500_000_000],
  ["0", undefined],
  ["-1", undefined],
  ["1e3", undefined],
])("DATABASE_LIMIT_GB=%j is a limit of %j bytes (undefined if refused)", (text, bytes) => {
  const parsed = parseDatabaseLimit(text);
  expect(parsed.ok ? parsed.value : undefined).toBe(bytes);
});
