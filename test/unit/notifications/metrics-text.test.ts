// The text of `/metrics`, and the Grafana board that shows it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { metricsText } from "../../../src/notifications/deployment-status/metrics-text.ts";
import { parseMetricsToken } from "../../../src/notifications/deployment-status/settings.ts";
import { NEVER_TESTED, type Queues, type Vitals } from "../../../src/notifications/deployment-status/status.ts";
import { scrape } from "../../support/prometheus.ts";

const NOW = 1_800_000_000_000;
const settings = {
  networks: new Set(["ETH", "BTC"]),
  pollSeconds: null,
  databaseLimitBytes: 1_000,
  alertSettings: "set",
  fatalFaults: [],
};
const cursor = {
  network: "ETH",
  height: 7,
  tipHeight: 9,
  passedMs: NOW - 1_500,
  lastMovedAtMs: NOW,
  tickedAtMs: NOW,
  degradedSinceMs: null,
  isResting: false,
  quarantined: 2,
  quarantinedSinceMs: 5,
  pausedAtMs: null,
  sources: [],
};
const facts: Vitals & Queues = {
  cursors: [cursor],
  cronRanAtMs: NOW - 500,
  setUpAtMs: 0,
  alertProof: NEVER_TESTED,
  databaseBytes: 900,
  unsettledInvoices: 3,
  oldestDueInvoiceMs: NOW - 9_000,
  deliveries: { due: 4, oldestDueAtMs: NOW - 250 },
  receipts: { due: 0, oldestDueAtMs: null },
  mails: { due: 1, oldestDueAtMs: NOW + 1 },
};
const textOf = (changes: Partial<typeof facts> | undefined, version = "1.0.0") =>
  metricsText({ version, facts: changes && { ...facts, ...changes }, settings, nowMs: NOW });

describe("the metrics", () => {
  it("are in Prometheus format, with the values that were read", () => {
    expect(Object.fromEntries(scrape(textOf({})).samples)).toEqual({
      'edgetill_info{version="1.0.0"}': 1,
      edgetill_healthy: 0,
      'edgetill_reasons{code="DATABASE_UNAVAILABLE"}': 0,
      'edgetill_reasons{code="CONFIGURATION_INVALID"}': 0,
      'edgetill_reasons{code="CURSOR_STALE"}': 0,
      'edgetill_reasons{code="CRON_STOPPED"}': 0,
      'edgetill_reasons{code="ADDRESS_QUARANTINED"}': 1,
      'edgetill_reasons{code="DATABASE_NEARLY_FULL"}': 1,
      'edgetill_network_awaited{network="BTC"}': 0,
      'edgetill_network_awaited{network="ETH"}': 1,
      'edgetill_network_lag_seconds{network="ETH"}': 2,
      'edgetill_network_height{network="ETH"}': 7,
      'edgetill_network_tip_height{network="ETH"}': 9,
      'edgetill_network_quarantined_addresses{network="BTC"}': 0,
      'edgetill_network_quarantined_addresses{network="ETH"}': 2,
      'edgetill_network_paused{network="BTC"}': 0,
      'edgetill_network_paused{network="ETH"}': 0,
      edgetill_cron_last_run_timestamp_seconds: NOW / 1_000 - 0.5,
      edgetill_database_bytes: 900,
      edgetill_database_limit_bytes: 1_000,
      edgetill_invoices_unsettled: 3,
      'edgetill_due{queue="deliveries"}': 4,
      'edgetill_due{queue="receipts"}': 0,
      'edgetill_due{queue="mails"}': 1,
      'edgetill_oldest_due_seconds{queue="invoices"}': 9,
      'edgetill_oldest_due_seconds{queue="deliveries"}': 0.25,
      'edgetill_oldest_due_seconds{queue="receipts"}': 0,
      'edgetill_oldest_due_seconds{queue="mails"}': 0,
    });
  });

  it("omit unknown values, and everything except the health status while storage does not answer", () => {
    const never = scrape(textOf({ cursors: [], cronRanAtMs: null, setUpAtMs: null })).names;
    for (const name of ["edgetill_cron_last_run_timestamp_seconds", "edgetill_network_lag_seconds"])
      expect(never).not.toContain(name);
    const away = scrape(textOf(undefined));
    expect([...away.names]).toEqual(["edgetill_info", "edgetill_healthy", "edgetill_reasons"]);
    expect(away.samples.get('edgetill_reasons{code="DATABASE_UNAVAILABLE"}')).toBe(1);
  });

  it("escape labels", () => {
    expect(scrape(textOf({}, 'a"b\\c\nd')).samples.get('edgetill_info{version="a\\"b\\\\c\\nd"}')).toBe(1);
  });

  it.each([
    "a 1",
    "# HELP a b\na 1\n",
    "# HELP a b\n# TYPE a gauge\na 1\na 1\n",
    '# HELP a b\n# TYPE a gauge\na{b="\n"} 1\n',
  ])("are checked by a parser that refuses an invalid format: %j", (text) => {
    expect(() => scrape(text)).toThrow();
  });
});

test("every metric on the Grafana board exists, and every metric is on the board", () => {
  const board = readFileSync(join(import.meta.dirname, "../../../docs/operations/grafana.json"), "utf8");
  const shown = new Set(
    JSON.parse(board).panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.flatMap(({ expr }) => expr.match(/\bedgetill_\w+/g) ?? []),
    ),
  );
  expect([...shown].sort()).toEqual([...scrape(textOf({})).names].sort());
});

test.each([
  ["", null],
  [" ", null],
  ["x".repeat(31), undefined],
  ["x".repeat(32), "x".repeat(32)],
  [`${"x".repeat(32)} y`, undefined],
  ["\u00e9".repeat(32), undefined],
])("METRICS_TOKEN=%j is parsed to %j (null if not set, undefined if refused)", (text, token) => {
  const parsed = parseMetricsToken(text);
  expect(parsed.ok ? parsed.value : undefined).toBe(token);
  if (!parsed.ok) expect(parsed.error).not.toContain(text);
});
