import { EVENT_TYPES } from "../../../src/platform/events/event.ts";

const domains = new Set(EVENT_TYPES.filter((type) => type.includes(".")).map((type) => type.replace(/\..*/, "")));

/** Event types by domain. Each group starts with the name for the whole domain. `ping` belongs to no domain. */
export const EVENT_GROUPS = [...domains].map((domain) => ({
  group: domain,
  items: [`${domain}.*`, ...EVENT_TYPES.filter((type) => type.startsWith(`${domain}.`))],
}));
