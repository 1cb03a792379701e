// GET /healthz: whether storage answers, and per network whether it is watched. Never a secret, never a merchant's data.

export interface Health {
  readonly status: "ok" | "degraded";
  readonly database: "ok" | "unavailable";
  /** Cursor height and lag of each configured network; null until a watcher has read it. */
  readonly networks: Readonly<Record<string, { readonly height: number | null; readonly lagSeconds: number | null }>>;
  readonly warnings: readonly string[];
}

export async function healthOf(d1: D1Database, watched: ReadonlySet<string>): Promise<Health> {
  const isUp = await d1
    .prepare("SELECT 1")
    .first()
    .then(
      () => true,
      () => false,
    );
  const networks = [...watched].map((name) => [name, { height: null, lagSeconds: null }] as const);
  return {
    status: isUp ? "ok" : "degraded",
    database: isUp ? "ok" : "unavailable",
    networks: Object.fromEntries(networks),
    warnings: networks.length === 0 ? ["NETWORK_NOT_WATCHED"] : [],
  };
}
