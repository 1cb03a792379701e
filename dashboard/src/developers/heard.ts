// The events that an endpoint gets. By default, an endpoint in the format of BTCPay Server's plugins gets only the events for settled invoices,
// because some of these plugins treat every signed message as a payment.
import { BY_HAND, sourcesOf, WEBHOOK_TYPES } from "../../../src/commerce/greenfield/webhook-type.ts";
import type { CreateWebhookBody, Webhook } from "../api/operations.ts";

export type Format = NonNullable<CreateWebhookBody["format"]>;
type Hears = "ALL" | "CHOSEN" | "SETTLED";

export interface Heard {
  readonly format: Format;
  readonly hears: Hears;
  readonly events: string[];
}

export const ALL_OF_PLUGINS: readonly string[] = sourcesOf(WEBHOOK_TYPES);

/** The initial value of the form's events, for an existing endpoint or a new one. */
export function heardBy(
  endpoint: Pick<Webhook, "format" | "events"> | undefined,
  format: Format = endpoint?.format ?? "STANDARD",
): Heard {
  const events = endpoint === undefined || endpoint.events.includes("*") ? [] : [...endpoint.events];
  return { format, hears: hearsOf(format, events), events };
}

function hearsOf(format: Format, events: readonly string[]): Hears {
  if (format === "STANDARD") return events.length === 0 ? "ALL" : "CHOSEN";
  const isAll = ALL_OF_PLUGINS.every((each) => events.includes(each));
  if (isAll) return "ALL";
  return events.every((each) => BY_HAND.some((settled) => settled === each)) ? "SETTLED" : "CHOSEN";
}

export function eventNames({ format, hears, events }: Heard): readonly string[] {
  if (hears === "CHOSEN") return events;
  if (hears === "SETTLED") return BY_HAND;
  return format === "GREENFIELD" ? ALL_OF_PLUGINS : ["*"];
}
