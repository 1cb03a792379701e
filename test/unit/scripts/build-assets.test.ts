import { execFileSync } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { expect, test } from "vitest";

const build = () => execFileSync(process.execPath, ["scripts/build-assets.ts"], { stdio: "pipe" });
const changedAt = () =>
  Object.fromEntries(globSync("static/**/*.*").map((path) => [path, statSync(path, { bigint: true }).mtimeNs]));

test("static assets are built once, and not again while no source has changed", () => {
  build();
  const made = changedAt();
  const names = Object.keys(made).map((path) => path.replace(/-[0-9a-f]{16}\./, "."));
  expect(names).toEqual(
    expect.arrayContaining([
      "static/assets/checkout.js",
      "static/assets/console.js",
      "static/assets/console.css",
      "static/assets/docs.js",
      "static/console/page.html",
      "static/modal/btcpay.js",
      "static/assets/swagger-ui.js",
      "static/assets/swagger-ui.css",
      "static/reference/openapi.json",
      "static/reference/docs.html",
    ]),
  );
  // Each name occurs once, because files of earlier sources are removed.
  expect(new Set(names).size).toBe(names.length);
  build();
  expect(changedAt()).toEqual(made);
});
