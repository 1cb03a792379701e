// The deployment's status in the text format of Prometheus, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). Everything is read
// from storage on request: counters in an isolate would cover only its own requests.
import { SECOND_MS } from "../../lib/time.ts";
import {
  lagSecondsOf,
  oldestDueOf,
  type Queues,
  REASON_CODES,
  reasonsOf,
  type StatusSettings,
  type Vitals,
} from "./status.ts";
import { cursorsOf } from "./status-body.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

interface MetricsOf {
  readonly version: string;
  /** Undefined if storage does not answer: then only the metrics that do not need it are shown. */
  readonly facts: (Vitals & Queues) | undefined;
  readonly settings: StatusSettings;
  readonly nowMs: number;
}

/** A value, with a label if the metric has one. */
type Sample = readonly [value: number, label?: readonly [name: string, value: string]];

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** A metric whose value is unknown is left out. */
export function metricsText(of: MetricsOf): string {
  const { facts } = of;
  const metrics = [...metricsOfService(of), ...(facts === undefined ? [] : metricsOfFacts(facts, of))];
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, samples }) =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...samples.map((sample) => line(name, sample)), ""].join("\n"),
    )
    .join("");
}

function line(name: string, [value, label]: Sample): string {
  return label === undefined ? `${name} ${value}` : `${name}{${label[0]}="${escaped(label[1])}"} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function metricsOfService({ version, facts, settings, nowMs }: MetricsOf): readonly Metric[] {
  const reasons = reasonsOf(facts, settings, nowMs);
  const counted = REASON_CODES.map((code): Sample => {
    return [reasons.filter((each) => each.code === code).length, ["code", code]];
  });
  return [
    { name: "edgetill_info", help: "The version that answers.", samples: [[1, ["version", version]]] },
    {
      name: "edgetill_healthy",
      help: "1 if there is no reason against it, else 0.",
      samples: [[reasons.length === 0 ? 1 : 0]],
    },
    { name: "edgetill_reasons", help: "Why it is not healthy: reasons of each code.", samples: counted },
  ];
}

function metricsOfFacts(facts: Vitals & Queues, { settings, nowMs }: MetricsOf): readonly Metric[] {
  return [
    ...metricsOfNetworks(facts, settings, nowMs),
    {
      name: "edgetill_cron_last_run_timestamp_seconds",
      help: "When the scheduled jobs last began.",
      samples: facts.cronRanAtMs === null ? [] : [[facts.cronRanAtMs / SECOND_MS]],
    },
    { name: "edgetill_database_bytes", help: "Size of the database.", samples: [[facts.databaseBytes]] },
    {
      name: "edgetill_database_limit_bytes",
      help: "The setting DATABASE_LIMIT_GB.",
      samples: [[settings.databaseLimitBytes]],
    },
    {
      name: "edgetill_invoices_unsettled",
      help: "Invoices that cannot be settled; the log names them.",
      samples: [[facts.unsettledInvoices]],
    },
    ...metricsOfQueues(facts, nowMs),
  ];
}

function metricsOfNetworks(facts: Vitals, settings: StatusSettings, nowMs: number): readonly Metric[] {
  const cursors = cursorsOf(facts, settings, nowMs);
  const each = (pick: (cursor: (typeof cursors)[number]) => number | null) =>
    cursors.flatMap((cursor): Sample[] => {
      const value = pick(cursor);
      return value === null ? [] : [[value, ["network", cursor.network]]];
    });
  return [
    {
      name: "edgetill_network_awaited",
      help: "1 while a payment on the network is awaited.",
      samples: each(({ isResting }) => (isResting ? 0 : 1)),
    },
    {
      name: "edgetill_network_lag_seconds",
      help: "Age of what was read, while a payment is awaited.",
      samples: each((cursor) => lagSecondsOf(cursor, nowMs)),
    },
    {
      name: "edgetill_network_height",
      help: "Newest block that was read completely.",
      samples: each(({ height }) => height),
    },
    {
      name: "edgetill_network_tip_height",
      help: "Newest block of the network's source.",
      samples: each(({ tipHeight }) => tipHeight),
    },
    {
      name: "edgetill_network_quarantined_addresses",
      help: "Addresses that cannot be read with the others.",
      samples: each(({ quarantined }) => quarantined),
    },
    {
      name: "edgetill_network_paused",
      help: "1 while an operator has paused the network.",
      samples: each(({ pausedAtMs }) => (pausedAtMs === null ? 0 : 1)),
    },
  ];
}

function metricsOfQueues(facts: Queues, nowMs: number): readonly Metric[] {
  const { deliveries, receipts, mails } = facts;
  const queues = Object.entries({ deliveries, receipts, mails });
  return [
    {
      name: "edgetill_due",
      help: "What is due and not done; beyond 10000 it is not counted.",
      samples: queues.map(([queue, { due }]): Sample => [due, ["queue", queue]]),
    },
    {
      name: "edgetill_oldest_due_seconds",
      help: "For how long the oldest has been due; 0 if nothing is.",
      samples: Object.entries(oldestDueOf(facts, nowMs)).map(([queue, value]): Sample => [value, ["queue", queue]]),
    },
  ];
}
