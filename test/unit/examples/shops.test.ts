// The shops of docs/examples must match their guide, and must name the versions that were tested here.
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FOLDER, GUIDE, installOf, SHOPS, startOf } from "../../chain/guides/shops.ts";

const guide = readFileSync(GUIDE, "utf8");
const manifest = (path: string) => JSON.parse(readFileSync(path, "utf8"));
/** The packages in the shop's own lock file, or in the repository's if the shop has none. */
const packagesOf = (folder: string) =>
  manifest([`${folder}/package-lock.json`, "package-lock.json"].find(existsSync) ?? "").packages;

it("every shop is tested, and listed in the guide", () => {
  expect(readdirSync(FOLDER).sort()).toEqual(SHOPS.map(({ folder }) => folder).sort());
  const rows = [...guide.matchAll(/^\| \[(.+?)\]\(#[\w-]+\) \|.*\[docs\/examples\/shops\/(\w+)\]/gm)];
  expect(rows.map(([, name, folder]) => [name, folder])).toEqual(SHOPS.map(({ name, folder }) => [name, folder]));
});

describe.each(SHOPS)("the shop in $name", (shop) => {
  it("is started by a command in its chapter of the guide", () => {
    expect(installOf(shop) + startOf(shop)).toContain(`${FOLDER}/${shop.folder}`);
  });

  it("has at most three files of at most 250 lines", () => {
    const sources = globSync(join(FOLDER, shop.folder, "*.{ts,js,py,php}"));
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.length).toBeLessThanOrEqual(3);
    const lines = sources.map((path) => readFileSync(path, "utf8").split("\n").length);
    expect(Math.max(...lines)).toBeLessThanOrEqual(250);
  });
});

describe.each(globSync(join(FOLDER, "*/package.json")))("%s", (path) => {
  it("names exactly the versions that are installed here, and the client of this release", () => {
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

it("the Hono shop and the Express shop store their orders with the same code", () => {
  const [hono, express] = ["hono", "express"].map((name) => readFileSync(join(FOLDER, name, "orders.ts"), "utf8"));
  expect(express).toBe(hono);
});
