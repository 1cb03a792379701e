import type { ReportTotals } from "../api/operations.ts";
import { useFormats } from "../shell/reader.tsx";

type Period = Pick<ReportTotals["periods"][number], "from" | "to">;

/** `Nov 3`, or `Nov 2 – Nov 8` for several days. */
export function usePeriodName(): (period: Period) => string {
  const { day } = useFormats();
  return ({ from, to }) => (from === to ? day(from) : `${day(from)} – ${day(to)}`);
}
