// The shops of docs/examples match their guide, and what people copy installs what was tested here.
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FOLDER, GUIDE, installOf, SHOPS, startOf } from "../../chain/guides/shops.ts";

const guide = readFileSync(GUIDE, "utf8");
const manifest = (path: string) => JSON.parse(readFileSync(path, "utf8"));
/** From the lock file of a shop that is its own project, or the repository's. */
const packagesOf = (folder: string) =>
  manifest([`${folder}/package-lock.json`, "package-lock.json"].find(existsSync) ?? "").packages;

it("every shop is tested, and listed in the guide", () => {
  expect(readdirSync(FOLDER).sort()).toEqual(SHOPS.map(({ folder }) => folder).sort());
  const rows = [...guide.matchAll(/^\| \[(.+?)\]\(#[\w-]+\) \|.*\[docs\/examples\/shops\/(\w+)\]/gm)];
  expect(rows.map(([, name, folder]) => [name, folder])).toEqual(SHOPS.map(({ name, folder }) => [name, folder]));
});

describe.each(SHOPS)("the shop in $name", (shop) => {
  it("is started by a command of its chapter", () => {
    expect(installOf(shop) + startOf(shop)).toContain(`${FOLDER}/${shop.folder}`);
  });

  it("is at most three files of at most 250 lines", () => {
    const sources = globSync(join(FOLDER, shop.folder, "*.{ts,js,py,php}"));
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.length).toBeLessThanOrEqual(3);
    const lines = sources.map((path) => readFileSync(path, "utf8").split("\n").length);
    expect(Math.max(...lines)).toBeLessThanOrEqual(250);
  });
});

describe.each(globSync(join(FOLDER, "*/package.json")))("%s", (path) => {
  it("names exactly the versions installed here, and the client of this release", () => {
    const { dependencies, devDependencies } = manifest(path);
    const named = Object.entries({ ...dependencies, ...devDependencies });
    const folder = path.replace("/package.json", "");
    const packages = packagesOf(folder);
    for (const [name, version] of named) {
      const installed =
        name === "edgetill"
          ? manifest("client/package.json")
          : (packages[`${folder}/node_modules/${name}`] ?? packages[`node_modules/${name}`]);
      expect([name, version]).toEqual([name, installed?.version]);
    }
    expect(dependencies).toHaveProperty("edgetill");
  });
});

it("the shops on Node that are written in TypeScript keep their orders in the same way", () => {
  const [hono, express] = ["hono", "express"].map((name) => readFileSync(join(FOLDER, name, "orders.ts"), "utf8"));
  expect(express).toBe(hono);
});
