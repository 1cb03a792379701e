// Converts our endpoints to Greenfield's format, and plugins' requests about them into requests to our own API.
import type { Json } from "../../lib/typed-json.ts";
import { defined, isBody } from "./invoice-request.ts";
import { sourcesOf, typesOf, WEBHOOK_TYPES } from "./webhook-type.ts";

export interface OwnWebhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly format: string;
  readonly isActive: boolean;
  readonly retryCount: number;
  readonly secret?: string;
}

export const isGreenfield = ({ format }: OwnWebhook) => format === "GREENFIELD";

export function greenfieldWebhook(own: OwnWebhook): object {
  const { id, url, events, isActive, retryCount, secret } = own;
  const types = typesOf(events);
  const everything = types.length === WEBHOOK_TYPES.length;
  return {
    id,
    enabled: isActive,
    automaticRedelivery: retryCount > 0,
    url,
    authorizedEvents: { everything, specificEvents: everything ? [] : types },
    ...(secret === undefined ? {} : { secret }),
  };
}

/**
 * The body for our own change route, or with `isNew` for our own create route; only a create accepts a secret. Invalid values are passed on, and
 * those routes refuse them.
 */
export function webhookBodyOf(json: Json | undefined, isNew: boolean): Json | undefined {
  if (!isBody(json)) return json;
  const { url, enabled, automaticRedelivery, authorizedEvents, secret } = json;
  return defined({
    url,
    isActive: enabled ?? undefined,
    events: eventsOf(authorizedEvents, isNew),
    retryCount: automaticRedelivery === false ? 0 : undefined,
    ...(isNew ? { format: "GREENFIELD", secret: secret || undefined } : {}),
  });
}

/** All types if the plugin asks for everything or, for a new endpoint, sends no `authorizedEvents`. Types that we do not have are ignored. */
function eventsOf(authorized: Json | undefined, isNew: boolean): Json | undefined {
  const { everything, specificEvents }: Readonly<Record<string, Json | undefined>> = isBody(authorized)
    ? authorized
    : { everything: isNew || undefined };
  if (everything === true) return [...sourcesOf(WEBHOOK_TYPES)];
  if (!Array.isArray(specificEvents)) return specificEvents;
  const named: readonly Json[] = specificEvents;
  return [...sourcesOf(named.filter((each) => typeof each === "string"))];
}
