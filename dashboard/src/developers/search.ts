// The page's search parameters: the open tab, and the filter and page of the events.
import { chosen, searchText, type WithCursor } from "../shell/search-text.ts";

/** The tabs, in order. The API keys are shown by default. */
export const TABS = { keys: "API keys", endpoints: "Endpoints", events: "Events" } as const;
type Tab = keyof typeof TABS;

export interface DevelopersSearch extends WithCursor {
  readonly tab?: Tab | undefined;
  /** For events: a type, or a whole domain such as `invoice.*`. */
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
