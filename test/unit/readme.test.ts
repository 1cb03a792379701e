import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const readme = readFileSync("README.md", "utf8");

it("the README has at most 200 lines, and the two commands in its first 20", () => {
  const lines = readme.split("\n");
  expect(lines.length).toBeLessThanOrEqual(200);
  expect(lines.slice(0, 20).join("\n")).toMatch(/npm start.*npm test/s);
});

it("the integration that the README links to is as short as it says", () => {
  expect(readme).toContain("[A whole integration](docs/examples/integration.ts) is 30 lines");
  expect(readFileSync("docs/examples/integration.ts", "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(30);
});
