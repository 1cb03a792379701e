// What `npm start` and similar commands do first, with a stand-in for npm that records its arguments.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { expect, test } from "vitest";

test("a user's own ignore-scripts setting is respected, and the message names the one script that is needed", () => {
  const folder = mkdtempSync(join(tmpdir(), "edgetill-install-"));
  try {
    writeFileSync(join(folder, "package-lock.json"), "{}");
    writeFileSync(join(folder, "npm"), '#!/bin/sh\necho "$@" > asked\n', { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
    const ran = spawnSync(process.execPath, [resolve("scripts/install.mjs")], { cwd: folder, env, encoding: "utf8" });
    const asked = readFileSync(join(folder, "asked"), "utf8");
    expect(asked).toMatch(/^ci .*--include=dev/);
    expect(asked).not.toContain("ignore-scripts");
    expect([ran.status, ran.stderr]).toEqual([1, expect.stringContaining("npm rebuild node --ignore-scripts=false")]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
