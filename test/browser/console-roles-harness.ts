// What each role sees: exactly the pages and buttons that its permissions allow, and nothing else. The permissions come from the table in
// docs/design/decisions.md, section 7. A new page needs an area with its buttons.
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Role } from "../../src/accounts/roles/roles.ts";
import { untilIdle } from "../support/page-idle.ts";
import { untilPage } from "./console-harness.ts";
import { follow } from "./console-links.ts";

/** Marks buttons that everyone who sees the page has. */
export const ALL = null;
/** The required permission, or the allowed roles if the rank also counts. */
export type Needs = string | readonly Role[] | typeof ALL;

/** A time limit that stops a test that hangs, generous for a busy machine. */
export const PLACE_WITHIN_MS = 120_000;

/** A page in one of its states. `S` is the shop, with the data that the page shows. */
export interface Area<S> {
  readonly name: string;
  readonly path: (shop: S) => string;
  readonly heading: string;
  readonly buttons: Readonly<Record<string, Needs>>;
  /** The headings of the page's sections, each with what a user needs to see it. */
  readonly sections?: Readonly<Record<string, Needs>>;
  /** The permission that a user needs to open the page; if unset, everyone may open it. */
  readonly needs?: string;
  /** The button that opens more of the page, to be clicked once it is shown. */
  readonly opens?: RegExp;
  /** The row to select, once it is shown. */
  readonly selects?: RegExp;
  /** A text in the part that the button opens; unset if it opens a menu. */
  readonly opened?: string;
  /** Buttons whose names vary. */
  readonly besides?: RegExp;
  /** The menu that the button opens. */
  readonly items?: Readonly<Record<string, Needs>>;
}

/** The number of permissions that each role has (Interface 2.3). */
export const COUNTS = { OWNER: 34, ADMIN: 32, MEMBER: 15, VIEWER: 10 } as const;

/**
 * Rows of the table look like `| invoice | view MV, create M, cancel |`: M is MEMBER, V is VIEWER. ADMIN has all permissions except two, OWNER has
 * all.
 */
export function permissionsOf(role: Role): ReadonlySet<string> {
  const [, text = ""] = readFileSync("docs/design/decisions.md", "utf8").split("### Permissions\n");
  const [table = ""] = text.split("### ");
  const rows = [...table.matchAll(/^\| (\w+) \| (view .+) \|$/gm)];
  const all = rows.flatMap(([, domain, actions = ""]) =>
    actions.split(", ").map((action) => {
      const [, name = "", who = ""] = /^(\w+)(?: ([MV]+))?/.exec(action) ?? [];
      return { name: `${domain}:${name}`, who };
    }),
  );
  const isHeld = ({ name, who }: (typeof all)[number]) => {
    if (role === "OWNER") return true;
    if (role === "ADMIN") return name !== "merchant:delete" && name !== "merchant:billing";
    return who.includes(role === "MEMBER" ? "M" : "V");
  };
  return new Set(all.filter(isHeld).map(({ name }) => name));
}

export function allowed(table: Readonly<Record<string, Needs>>, role: Role): readonly string[] {
  const held = permissionsOf(role);
  const isMet = (needs: Needs) => needs === ALL || (typeof needs === "string" ? held.has(needs) : needs.includes(role));
  return Object.entries(table).flatMap(([name, needs]) => (isMet(needs) ? [name] : []));
}

/** Follows links from an open page of the console to each area, and compares its content with the table. */
export async function expectPlaces<S>(
  page: Page,
  { places, shop, role }: { readonly places: readonly Area<S>[]; readonly shop: S; readonly role: Role },
): Promise<void> {
  for (const place of places) {
    await follow(page, place.path(shop));
    if (place.needs !== undefined && !permissionsOf(role).has(place.needs)) {
      await untilIdle(page);
      await page.getByText("This could not be loaded").waitFor();
      continue;
    }
    await openPlace(page, place);
    const main = page.getByRole("main");
    const buttons = async () =>
      (await namesOf(main.getByRole("button"))).filter((name) => place.besides?.test(name) !== true);
    await expect.poll(buttons, { message: place.name }).toEqual(allowed(place.buttons, role).toSorted());
    const sections = async () => (await main.locator("section h2").allTextContents()).toSorted();
    await expect.poll(sections, { message: place.name }).toEqual(allowed(place.sections ?? {}, role).toSorted());
    const items = async () => (await page.getByRole("menuitem").allTextContents()).toSorted();
    await expect.poll(items, { message: place.name }).toEqual(allowed(place.items ?? {}, role).toSorted());
  }
}

async function openPlace<S>(page: Page, { heading, opens, opened, selects }: Area<S>): Promise<void> {
  await untilPage(page, heading);
  if (selects !== undefined) await page.getByRole("checkbox", { name: selects }).first().check();
  if (opens === undefined) return;
  await page.getByRole("main").getByRole("button", { name: opens }).click();
  if (opened === undefined) await page.getByRole("menu").waitFor();
  else await page.getByText(opened).waitFor();
}

/** Buttons that every role has, however often they are shown: copy buttons for what is on the chain, and events that can be opened. */
const EVERYWHERE = /^(?:Copy (?!link|the ID).*|invoice\..*)$/;

/** The accessible name of each button. Buttons with the same name count once, and so do the menus of all rows. */
async function namesOf(buttons: Locator): Promise<readonly string[]> {
  const names = await buttons.evaluateAll<readonly string[], Named>((all) =>
    all.map((each) => each.getAttribute("aria-label") ?? each.textContent),
  );
  const known = names.map((name) => name.replace(/^(Actions for) .*/, "$1"));
  return [...new Set(known.filter((name) => !EVERYWHERE.test(name)))].toSorted();
}

/** The properties of an element that `namesOf` reads in the browser. */
interface Named {
  readonly textContent: string;
  getAttribute(name: string): string | null;
}
