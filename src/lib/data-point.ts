// Data points for Cloudflare's Analytics Engine, if the binding ANALYTICS is set (docs/operations/monitoring.md). Without it nothing is written, and
// nothing else changes.
import { logAlert, safeMessage } from "./log.ts";
import { type Cost, NO_COST } from "./work-log.ts";

interface WithAnalytics {
  readonly ANALYTICS?: Pick<AnalyticsEngineDataset, "writeDataPoint"> | undefined;
}

interface DataPoint {
  readonly kind: "create" | "refusal" | "paid" | "lag" | "oldest_due" | "database";
  /** What the data point is about, such as a network, a queue or the code of a refusal; may be empty. */
  readonly subject: string;
  readonly merchantId?: string | null;
  /** Seconds, bytes, or 1 for a count. */
  readonly value: number;
  /** How long the request took. */
  readonly ms?: number;
  readonly cost?: Cost;
}

/** Never throws, so that a failed measurement does not stop the work that is measured. */
export function writePoint({ ANALYTICS }: WithAnalytics, point: DataPoint): void {
  if (ANALYTICS === undefined) return;
  const { kind, subject, merchantId, value, ms = 0, cost = NO_COST } = point;
  try {
    ANALYTICS.writeDataPoint({
      // The platform samples by this index, so that a merchant with many points does not displace those of others.
      indexes: [merchantId ?? kind],
      blobs: [kind, subject, merchantId ?? ""],
      doubles: [value, ms, cost.calls, cost.rowsRead, cost.rowsWritten],
    });
  } catch (error) {
    logAlert("a data point was lost", { kind, what: safeMessage(error) });
  }
}
