import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { NETWORKS } from "../../src/chains/registry/networks.ts";
import { LIMITS } from "../../src/lib/limits.ts";

const FOLDER = "docs/guides";
const names = readdirSync(FOLDER).map((file) => file.replace(/\.md$/, ""));
const textOf = (name: string) => readFileSync(join(FOLDER, `${name}.md`), "utf8");

it.each(names)("every file that the guide %s links to exists", (name) => {
  const text = textOf(name);
  const links = [...text.matchAll(/\]\(([\w./-]+)\)/g)].flatMap(([, path = ""]) => path);
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((path) => !existsSync(join(FOLDER, path)))).toEqual([]);
});

it("the index names every guide once", () => {
  const index = textOf("README");
  const listed = [...index.matchAll(/^\| \[([\w-]+)\.md\]/gm)].flatMap(([, name = ""]) => name);
  expect(listed.toSorted()).toEqual(names.filter((name) => name !== "README").toSorted());
});

it("every guide has at least one command and shows a response", () => {
  for (const name of names) {
    const text = textOf(name);
    expect(text, name).toMatch(/^```sh\n/m);
    expect(text, name).toMatch(/^```(?:json|text)\n/m);
  }
});

it("the guide on webhooks shows the integration that the tests run", () => {
  const [, shown] = /```ts\n(.*?)```/s.exec(textOf("webhooks")) ?? [];
  expect(shown).toBe(readFileSync("docs/examples/integration.ts", "utf8"));
});

it("every limit in the guides equals the limit that the Worker applies", () => {
  const named = names.flatMap((name) => [...textOf(name).matchAll(/`(\w+)`, (?:at first )?([\d,]*\d)/g)]);
  const limits = named.filter(([, name = ""]) => Object.hasOwn(LIMITS, name));
  expect(limits.length).toBeGreaterThan(10);
  for (const [, name, number = ""] of limits) {
    expect([name, Number(number.replaceAll(",", ""))]).toEqual([name, LIMITS[name as keyof typeof LIMITS]]);
  }
});

it("the guide on wallets lists every main network with its cryptocurrencies and recommended confirmations, and names the test networks", () => {
  const guide = textOf("wallets");
  const rows = [...guide.matchAll(/^\| `(\w+)` \| ([A-Z, ]+) \| (\d+) \|$/gm)].map((row) => row.slice(1));
  const main = NETWORKS.filter(({ isTest }) => !isTest);
  const expected = main.map(({ name, assets, recommendedConfirmations }) => [
    name,
    assets.map(({ code }) => code).join(", "),
    String(recommendedConfirmations),
  ]);
  expect(rows).toEqual(expected);
  for (const { name } of NETWORKS.filter(({ isTest, isRegtest }) => isTest && !isRegtest)) {
    expect(guide).toContain(`\`${name}\``);
  }
});
