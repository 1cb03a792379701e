import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { DISTRICTS } from "../../../scripts/districts.ts";
import { ARCHITECTURE_PAGE, architecturePage } from "../../../scripts/write-architecture.ts";

test("the architecture page is what `npm run docs:architecture` writes, with every district once and in order", async () => {
  const page = await readFile(ARCHITECTURE_PAGE, "utf8");
  expect(page).toBe(architecturePage(page));
  expect([...page.matchAll(/^\| \d+ \| `src\/(\w+)\/` \|/gm)].map(([, name]) => name)).toEqual(
    DISTRICTS.map(([name]) => name),
  );
});
