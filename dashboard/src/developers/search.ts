// What the address carries: the part that is open, and of the events their filter and page.

/** The keys are what is shown first. */
export const TABS = { keys: "API keys", endpoints: "Endpoints", events: "Events" } as const;
export type Tab = keyof typeof TABS;

export interface DevelopersSearch {
  readonly tab?: Tab;
  /** Of events: a type, or a whole domain such as `invoice.*`. */
  readonly type?: string;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

const TYPE = /^[a-z_]+\.([a-z_]+|\*)$/;

export function developersSearch(given: Readonly<Record<string, unknown>>): DevelopersSearch {
  const { tab, type, cursor } = given;
  return {
    ...(typeof tab === "string" && Object.hasOwn(TABS, tab) ? { tab: tab as Tab } : {}),
    ...(typeof type === "string" && TYPE.test(type) ? { type } : {}),
    ...(typeof cursor === "string" || typeof cursor === "number" ? { cursor: String(cursor) } : {}),
  };
}
