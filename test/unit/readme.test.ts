import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const readme = readFileSync("README.md", "utf8");

it("the README's integration is the file that the tests run, in less than 30 lines", () => {
  const [, shown] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  expect(shown).toBe(readFileSync("docs/examples/integration.ts", "utf8"));
  expect(shown?.trimEnd().split("\n").length).toBeLessThan(30);
});

it("every file that the README links to is there", () => {
  const links = [...readme.matchAll(/\]\(([\w./-]+)\)/g)].flatMap(([, path = ""]) => path);
  expect(links).toContain("docs/events.md");
  expect(links.filter((path) => !existsSync(path))).toEqual([]);
});
