import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { ERRORS_PAGE, errorsPage } from "../../../scripts/write-errors.ts";
import { refusalStatus, SAMPLES } from "../../../src/platform/http/refusals.ts";

test("the errors page is what `npm run docs:errors` writes, with every code once and its status", async () => {
  const page = await readFile(ERRORS_PAGE, "utf8");
  expect(page).toBe(await errorsPage());
  const rows = [...page.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [code, Number(status)]);
  const codes = Object.keys(SAMPLES) as (keyof typeof SAMPLES)[];
  expect(rows.toSorted()).toEqual(codes.map((code) => [code, refusalStatus(code)]).toSorted());
});
