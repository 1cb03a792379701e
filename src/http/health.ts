// GET /healthz: whether storage answers, what is wrong with the configuration, and per network whether it is watched. Never a secret, never
// a merchant's data.

export interface Health {
  readonly status: "ok" | "degraded";
  readonly database: "ok" | "unavailable";
  /** Cursor height and lag of each configured network; null until a watcher has read it. */
  readonly networks: Readonly<Record<string, { readonly height: number | null; readonly lagSeconds: number | null }>>;
  readonly warnings: readonly string[];
}

/** What is configured: `watched` by canonical name, and what is wrong, as a code; a fatal fault makes the deployment degraded. */
export interface Configured {
  readonly watched: ReadonlySet<string>;
  readonly faults: readonly { readonly code: string; readonly isFatal: boolean }[];
}

/** Degraded when storage does not answer or a fault is fatal. */
export async function healthOf(d1: D1Database, { watched, faults }: Configured): Promise<Health> {
  const isUp = await d1
    .prepare("SELECT 1")
    .first()
    .then(
      () => true,
      () => false,
    );
  const isGood = isUp && !faults.some((fault) => fault.isFatal);
  const networks = [...watched].map((name) => [name, { height: null, lagSeconds: null }] as const);
  return {
    status: isGood ? "ok" : "degraded",
    database: isUp ? "ok" : "unavailable",
    networks: Object.fromEntries(networks),
    warnings: [...faults.map((fault) => fault.code), ...(networks.length === 0 ? ["NETWORK_NOT_WATCHED"] : [])],
  };
}
