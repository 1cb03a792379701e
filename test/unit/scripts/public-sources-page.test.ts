// The table of public sources must be usable by a deployment, and the page must match it.
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { FEWER, PUBLIC_SOURCES, publicSourcesOf, settingOf } from "../../../scripts/deploy/public-sources.ts";
import { SOURCES_PAGE, sourcesPage } from "../../../scripts/write-public-sources.ts";
import { NETWORKS } from "../../../src/chains/registry/networks.ts";
import { parseChainSources } from "../../../src/chains/sources/chain-sources.ts";

it("the public sources page is what `npm run docs:sources` writes", async () => {
  expect(await readFile(SOURCES_PAGE, "utf8")).toBe(sourcesPage());
});

describe("the table of public sources", () => {
  it("is a valid CHAIN_SOURCES setting, with each address unchanged", () => {
    const parsed = parseChainSources({ CHAIN_SOURCES: settingOf(PUBLIC_SOURCES) });
    if (!parsed.ok) throw new Error(parsed.error);
    const found = [...parsed.value].flatMap(([network, list]) =>
      list.map(({ kind, url, headers }) => ({ network, kind, url, headers })),
    );
    const written = PUBLIC_SOURCES.map(({ network, kind, url }) => ({ network, kind, url, headers: {} }));
    expect(found).toHaveLength(written.length);
    expect(found).toEqual(expect.arrayContaining(written));
    expect(PUBLIC_SOURCES.filter(({ url }) => !url.startsWith("https://"))).toEqual([]);
  });

  it.each(NETWORKS)("has two sources of different vendors for $name, or says why not", ({ name }) => {
    const vendors = publicSourcesOf(name).map(({ vendor }) => vendor);
    expect(new Set(vendors).size).toBe(vendors.length);
    expect(FEWER[name] === undefined).toBe(vendors.length > 1);
  });

  it("names each source's document and the day it was read, and says in two sentences what the source learns and what it allows", () => {
    expect(PUBLIC_SOURCES.length).toBeGreaterThan(15);
    for (const { document, documentOf, readOn, limit, learns } of PUBLIC_SOURCES) {
      expect(new URL(document).protocol).toBe("https:");
      expect(documentOf).not.toBe("");
      expect(readOn).toMatch(/^20\d\d-[01]\d-[0-3]\d$/);
      for (const text of [limit, learns]) expect(text).toMatch(/^[A-Z\d][^|\n]+\.$/);
    }
  });
});
