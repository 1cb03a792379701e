import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { DISTRICTS } from "../../../scripts/districts.ts";
import { ARCHITECTURE_PAGE, architecturePage } from "../../../scripts/write-architecture.ts";
import { commentsOfSchema } from "../../../scripts/write-storage.ts";
import { SHARED_STATE } from "../../support/isolate-rules.ts";

test("the architecture page is what `npm run docs:architecture` writes, with every district once and in order", async () => {
  const page = await readFile(ARCHITECTURE_PAGE, "utf8");
  expect(page).toBe(architecturePage(page));
  expect([...page.matchAll(/^\| \d+ \| `src\/(\w+)\/` \|/gm)].map(([, name]) => name)).toEqual(
    DISTRICTS.map(([name]) => name),
  );
});

const ARCHITECTURE = await readFile(ARCHITECTURE_PAGE, "utf8");
const [, where = ""] = ARCHITECTURE.split("\n## Where state is stored\n");
const [state = ""] = where.split("\n## ");
const [objects = "", tables = "", isolate = ""] = state.split(/\*\*(?:Tables of D1|What an isolate keeps)\.\*\*/);
/** The names in the first column of a table. */
const namesIn = (text: string) =>
  [...text.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );

test("the architecture page lists and counts the classes of Durable Objects that wrangler.toml binds", async () => {
  const classes = [...(await readFile("wrangler.toml", "utf8")).matchAll(/class_name = "(\w+)"/g)].map(
    ([, name]) => name,
  );
  expect(namesIn(objects).toSorted()).toEqual(classes.toSorted());
  const words = ["seven", "eight", "nine", "ten", "eleven", "twelve"];
  expect(ARCHITECTURE).toContain(`, ${words[classes.length - 7]} classes of Durable Objects,`);
});

test("the architecture page lists every table of the database", () => {
  expect(namesIn(tables).toSorted()).toEqual([...commentsOfSchema().keys()].toSorted());
});

test("the architecture page lists every file with state at module scope, and src/app/health/routes.ts", () => {
  expect(namesIn(isolate).map((path) => `src/${path}`)).toEqual(
    expect.arrayContaining([...SHARED_STATE, "src/app/health/routes.ts"]),
  );
  expect(namesIn(isolate)).toHaveLength(SHARED_STATE.length + 1);
});
