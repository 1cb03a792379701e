// Data points for Cloudflare's Analytics Engine, if the binding ANALYTICS is set (docs/operations/monitoring.md). Without it nothing is written, and nothing
// else changes.
import { logAlert, safeMessage } from "./log.ts";
import { type Cost, NO_COST } from "./work-log.ts";

interface WithAnalytics {
  readonly ANALYTICS?: Pick<AnalyticsEngineDataset, "writeDataPoint"> | undefined;
}

interface DataPoint {
  readonly kind: "create" | "refusal" | "paid" | "lag" | "oldest_due" | "database";
  /** What it is about: a network, a queue, the code of a refusal. */
  readonly subject: string;
  readonly merchantId?: string | null;
  /** Seconds, bytes, or 1 for a count. */
  readonly value: number;
  /** Duration of the request that it is about. */
  readonly ms?: number;
  readonly cost?: Cost;
}

/** Never throws: the measured work matters more than the measurement. */
export function writePoint({ ANALYTICS }: WithAnalytics, point: DataPoint): void {
  if (ANALYTICS === undefined) return;
  const { kind, subject, merchantId, value, ms = 0, cost = NO_COST } = point;
  try {
    ANALYTICS.writeDataPoint({
      // The platform samples by it, so that no merchant's points crowd out another's.
      indexes: [merchantId ?? kind],
      blobs: [kind, subject, merchantId ?? ""],
      doubles: [value, ms, cost.calls, cost.rowsRead, cost.rowsWritten],
    });
  } catch (error) {
    logAlert("a data point was lost", { kind, what: safeMessage(error) });
  }
}
