// GET /healthz: whether storage answers, faults of the configuration, the state of each watched network, and how many invoices cannot be
// settled. Contains no secrets and no merchant's data.
import { isoTime, SECOND_MS } from "../lib/time.ts";
import { parseJson } from "../lib/typed-json.ts";

export interface Health {
  readonly status: "ok" | "degraded";
  readonly database: "ok" | "unavailable";
  /** Each configured network, by canonical name. */
  readonly networks: Readonly<Record<string, NetworkHealth>>;
  /** Invoices that the sweep has failed to settle more than once and has not settled since. */
  readonly unsettledInvoices: number;
  readonly warnings: readonly string[];
}

/** How far a network has been read; fields are null until a watcher has read it. */
export interface NetworkHealth {
  readonly height: number | null;
  /** The source's newest block, when last asked. */
  readonly tipHeight: number | null;
  /** Seconds since the time up to which everything was read; null while nothing is watched. */
  readonly lagSeconds: number | null;
  /** Whether nothing on it is watched, so that it is not polled. */
  readonly isResting: boolean;
  /** Since when its source cannot be read, ISO 8601; null while it can. */
  readonly degradedSince: string | null;
  /** Addresses refused by its source, or flooded, for so long that their merchants were notified. */
  readonly unreadAddresses: number;
}

interface CursorFacts {
  readonly network: string;
  readonly height: number | null;
  readonly tipHeight: number | null;
  readonly passedMs: number;
  readonly degradedSinceMs: number | null;
  readonly isResting: number;
  readonly unread: number;
}

const CURSORS = `SELECT json_group_array(json_object('network', network, 'height', height, 'tipHeight', tip_height,
  'passedMs', passed_ms, 'degradedSinceMs', degraded_since_ms, 'isResting', is_resting, 'unread', (SELECT count(*) FROM stuck_addresses stuck
  WHERE stuck.network = network_cursors.network AND stuck.told_at_ms IS NOT NULL))) AS cursors,
  (SELECT count(*) FROM unsettled_invoices WHERE failures > 1) AS unsettled FROM network_cursors`;

/** The configuration: watched networks by canonical name, and faults as codes. A fatal fault makes the deployment degraded. */
export interface Configured {
  readonly watched: ReadonlySet<string>;
  readonly faults: readonly { readonly code: string; readonly isFatal: boolean }[];
  readonly nowMs: number;
}

/** Degraded if storage does not answer or a fault is fatal. */
export async function healthOf(d1: D1Database, { watched, faults, nowMs }: Configured): Promise<Health> {
  const row = await d1
    .prepare(CURSORS)
    .first<{ readonly cursors: string; readonly unsettled: number }>()
    .catch(() => undefined);
  const cursors = row === undefined ? undefined : parseJson<readonly CursorFacts[]>(row?.cursors ?? "[]");
  const unsettledInvoices = row?.unsettled ?? 0;
  const isGood = cursors !== undefined && !faults.some((fault) => fault.isFatal);
  const networks = [...watched].map(
    (name) =>
      [
        name,
        networkHealth(
          cursors?.find(({ network }) => network === name),
          nowMs,
        ),
      ] as const,
  );
  return {
    status: isGood ? "ok" : "degraded",
    database: cursors === undefined ? "unavailable" : "ok",
    networks: Object.fromEntries(networks),
    unsettledInvoices,
    warnings: [
      ...faults.map((fault) => fault.code),
      ...(networks.length === 0 ? ["NETWORK_NOT_WATCHED"] : []),
      ...(unsettledInvoices > 0 ? ["INVOICES_UNSETTLED"] : []),
    ],
  };
}

function networkHealth(cursor: CursorFacts | undefined, nowMs: number): NetworkHealth {
  if (cursor === undefined)
    return {
      height: null,
      tipHeight: null,
      lagSeconds: null,
      isResting: true,
      degradedSince: null,
      unreadAddresses: 0,
    };
  const { height, tipHeight, passedMs, degradedSinceMs } = cursor;
  const isResting = cursor.isResting === 1;
  return {
    height,
    tipHeight,
    lagSeconds: isResting || height === null ? null : Math.max(0, Math.round((nowMs - passedMs) / SECOND_MS)),
    isResting,
    degradedSince: degradedSinceMs === null ? null : isoTime(degradedSinceMs),
    unreadAddresses: cursor.unread,
  };
}
