import { readFile } from "node:fs/promises";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { expect, test } from "vitest";
import { LIMITS_PAGE, limitsPage } from "../../../scripts/write-limits.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";

test("the limits page is what `npm run docs:limits` writes, with every limit once", async () => {
  const page = await readFile(LIMITS_PAGE, "utf8");
  expect(page).toBe(limitsPage());
  expect([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)).toEqual(Object.keys(LIMITS));
});

test("the limits in wrangler.toml are those on the page", async () => {
  const wrangler = await readFile("wrangler.toml", "utf8");
  const shields = [...wrangler.matchAll(/^\[\[ratelimits\]\]\n((?:[^[\n].*\n?)*)/gm)].map(
    ([, section = ""]) => section,
  );
  const [shield = "", failed = ""] = shields;
  expect(shields).toHaveLength(2);
  expect(shield).toContain('name = "IP_SHIELD"');
  expect(shield).toContain(`simple = { limit = ${LIMITS.requestsPerIpAndMinute}, period = 60 }`);
  expect(failed).toContain('name = "FAILED_CREDENTIALS"');
  expect(failed).toContain(`simple = { limit = ${LIMITS.failedCredentialsPerIpAndMinute}, period = 60 }`);
  expect(wrangler).toContain(`\nRATE_LIMIT_PER_MINUTE = "${LIMITS.requestsPerCallerAndMinute}"\n`);
});

test("a new merchant has the limits on active invoices that the page states", () => {
  const defaults = Object.fromEntries(getTableConfig(merchants).columns.map((column) => [column.name, column.default]));
  expect(defaults).toMatchObject({
    max_active_invoices: LIMITS.maxActiveInvoices,
    max_public_invoices: LIMITS.maxPublicInvoices,
  });
});
