// The kinds of figure that several benchmarks share.
import { type Measured, medianText } from "../interleave.ts";
import type { Figure, Target } from "../report.ts";
import { pairedRatio } from "../statistics.ts";

interface Comparison {
  readonly what: string;
  readonly ours: Measured;
  readonly baseline: string;
  readonly theirs: Measured;
  readonly target?: Target | undefined;
}

/** Requests per second, the product's divided by the baseline's: more is better. */
export function throughput(of: Comparison): Figure {
  return figure(of, `${of.what}, req/s`, of.ours.perSecond, of.theirs.perSecond, "/s");
}

/** Median latency, the product's divided by the baseline's: less is better. */
export function latency(of: Comparison): Figure {
  return figure(of, `${of.what}, p50`, of.ours.p50Ms, of.theirs.p50Ms, "ms");
}

/** 90th percentile of latency, the product's divided by the baseline's: less is better. */
export function tail(of: Comparison): Figure {
  return figure(of, `${of.what}, p90`, of.ours.p90Ms, of.theirs.p90Ms, "ms");
}

/** 99th percentile of latency, the product's divided by the baseline's: less is better. */
export function worst(of: Comparison): Figure {
  return figure(of, `${of.what}, p99`, of.ours.p99Ms, of.theirs.p99Ms, "ms");
}

/** CPU time of the whole workerd process per request, the product's divided by the baseline's; empty if it cannot be read. */
export function cpu(of: Comparison): readonly Figure[] {
  return of.ours.cpuMs.length === 0 ? [] : [figure(of, `${of.what}, CPU`, of.ours.cpuMs, of.theirs.cpuMs, "ms")];
}

function figure(
  of: Comparison,
  what: string,
  ours: readonly number[],
  theirs: readonly number[],
  unit: string,
): Figure {
  return {
    what,
    baseline: of.baseline,
    ratio: pairedRatio(ours, theirs),
    ...(of.target === undefined ? {} : { target: of.target }),
    measured: `${medianText(ours, unit)} against ${medianText(theirs, unit)}`,
  };
}
