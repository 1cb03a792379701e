// What happened to an invoice, for its timeline.
import type { Invoice } from "../api/operations.ts";
import type { InvoiceStatus } from "./states.ts";

type Decision = NonNullable<Invoice["resolution"]>;

/** Either the invoice reached a state, or a user decided about it. */
type Step = { readonly time: string } & (
  | { readonly state: InvoiceStatus; readonly decision: null }
  | { readonly state: null; readonly decision: Decision }
);

/** In order of time. If a state and a decision have the same time, the state comes first. */
export function stepsOf({
  invoiceTimeline,
  resolution,
}: Pick<Invoice, "invoiceTimeline" | "resolution">): readonly Step[] {
  const states = invoiceTimeline.map(({ time, paymentStatus: state }): Step => ({ time, state, decision: null }));
  const decided: readonly Step[] =
    resolution === null ? [] : [{ time: resolution.at, state: null, decision: resolution }];
  return [...states, ...decided].toSorted((one, other) => Date.parse(one.time) - Date.parse(other.time));
}
