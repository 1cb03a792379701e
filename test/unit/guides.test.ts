import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const FOLDER = "docs/guides";
const names = readdirSync(FOLDER);

it.each(names)("every file that the guide %s links to is there", (name) => {
  const text = readFileSync(join(FOLDER, name), "utf8");
  const links = [...text.matchAll(/\]\(([\w./-]+)\)/g)].flatMap(([, path = ""]) => path);
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((path) => !existsSync(join(FOLDER, path)))).toEqual([]);
});

it("the index names every guide once", () => {
  const index = readFileSync(join(FOLDER, "README.md"), "utf8");
  const listed = [...index.matchAll(/^\| \[([\w-]+\.md)\]/gm)].flatMap(([, name = ""]) => name);
  expect(listed.toSorted()).toEqual(names.filter((name) => name !== "README.md").toSorted());
});

it("a guide has at least one command, and shows an answer", () => {
  for (const name of names) {
    const text = readFileSync(join(FOLDER, name), "utf8");
    expect(text, name).toMatch(/^```sh\n/m);
    expect(text, name).toMatch(/^```(?:json|text)\n/m);
  }
});

it("the integration in the guide on webhooks is the file that the tests run", () => {
  const [, shown] = /```ts\n(.*?)```/s.exec(readFileSync(join(FOLDER, "webhooks.md"), "utf8")) ?? [];
  expect(shown).toBe(readFileSync("docs/examples/integration.ts", "utf8"));
});
