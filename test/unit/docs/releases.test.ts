// The version must be the same everywhere, and the CHANGELOG must list its versions in order.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import manifest from "../../../package.json";
import { VERSION } from "../../../src/app/configuration/version.ts";

const CHANGELOG = readFileSync("CHANGELOG.md", "utf8");
const released = [...CHANGELOG.matchAll(/^## \[(\d[^\]]*)\] - (\d{4}-\d{2}-\d{2})$/gm)].map(
  ([, version = "", date = ""]) => ({ version, date }),
);

/** A version must sort after its prereleases, so it gets "~", which sorts after all letters. */
const orderOf = (version: string) =>
  version
    .replace(/^([^-]*)$/, "$1-~")
    .split(/[.-]/)
    .map((part) => (/^\d+$/.test(part) ? part.padStart(6, "0") : part))
    .join(".");

it("versions are ordered as Semantic Versioning requires", () => {
  const versions = ["1.0.0-alpha", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.2.0", "1.10.0-rc.1", "1.10.0"];
  expect(versions.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))).toEqual(versions);
});

it("every section of the CHANGELOG is a version with its date, newest first, after the unreleased section", () => {
  const headings = [...CHANGELOG.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(["[Unreleased]", ...released.map(({ version, date }) => `[${version}] - ${date}`)]);
  expect(released.length).toBeGreaterThan(0);
  const newestFirst = released.toSorted((a, b) => (orderOf(a.version) < orderOf(b.version) ? 1 : -1));
  expect(released).toEqual(newestFirst);
});

it("package.json, the client and the Worker have the same version, and no released version is newer", () => {
  const client = JSON.parse(readFileSync("client/package.json", "utf8"));
  expect([VERSION, client.version]).toEqual([manifest.version, manifest.version]);
  expect(orderOf(released[0]?.version ?? "") <= orderOf(manifest.version)).toBe(true);
});
