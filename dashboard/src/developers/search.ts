// What the address carries: the part that is open, and of the events their filter and page.
import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";

/** The keys are what is shown first. */
export const TABS = { keys: "API keys", endpoints: "Endpoints", events: "Events" } as const;
type Tab = keyof typeof TABS;

export interface DevelopersSearch extends WithCursor {
  readonly tab?: Tab | undefined;
  /** Of events: a type, or a whole domain such as `invoice.*`. */
  readonly type?: string | undefined;
}

const TYPE = /^[a-z_]+\.([a-z_]+|\*)$/;

export function developersSearch({ tab, type, cursor }: Readonly<Record<string, unknown>>): DevelopersSearch {
  return chosen({
    tab: isTab(tab) ? tab : undefined,
    type: typeof type === "string" && TYPE.test(type) ? type : undefined,
    cursor: searchText(cursor),
  });
}

export function isTab(value: unknown): value is Tab {
  return typeof value === "string" && Object.hasOwn(TABS, value);
}
