import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const COMPLETE = resolve("scripts/complete-lock.mjs");
const INTEGRITY = `sha512-${"A".repeat(86)}==`;

/** The lock file after lock:complete, which runs on a copy of ours or on `lock`. */
function completed(lock?: unknown, answer = INTEGRITY): string {
  const folder = mkdtempSync(join(tmpdir(), "edgetill-lock-"));
  const file = join(folder, "package-lock.json");
  try {
    if (lock === undefined) cpSync("package-lock.json", file);
    else writeFileSync(file, JSON.stringify(lock));
    // A stand-in for npm with one fixed answer, so that no test queries a registry.
    writeFileSync(join(folder, "npm"), `#!/bin/sh\necho ${answer}\n`, { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
    execFileSync(process.execPath, [COMPLETE], { cwd: folder, stdio: "pipe", env });
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the lock file", () => {
  test("is complete: npm run lock:complete changes nothing", () => {
    expect(completed()).toBe(readFileSync("package-lock.json", "utf8"));
  });

  test("of the Next.js shop, which is not a workspace, is complete too", () => {
    const text = readFileSync("docs/examples/shops/next/package-lock.json", "utf8");
    expect(completed(JSON.parse(text))).toBe(text);
    expect(text).not.toMatch(/"resolved"|"hasInstallScript"/);
  });

  test.each(["package-lock.json", "docs/examples/shops/next/package-lock.json"])(
    "has an integrity hash for every package in %s",
    (file) => {
      const { packages } = JSON.parse(readFileSync(file, "utf8"));
      // The client of this repository is installed from a file.
      const fetched = Object.keys(packages).filter(
        (path) => path.includes("node_modules/") && !packages[path].link && path !== "node_modules/edgetill",
      );
      expect(fetched.length).toBeGreaterThan(20);
      expect(fetched.filter((path) => !/^sha512-[\w+/]{86}==$/.test(packages[path].integrity))).toEqual([]);
    },
  );

  test.each(["", "sha1-AAAA", "sha512-AAAA"])("is not completed if the registry answers %j", (answer) => {
    const packages = { "node_modules/t": { version: "1.0.0" } };
    expect(() => completed({ packages }, answer)).toThrow(/has no integrity/);
  });

  test("has install scripts only where package.json allows them, and no telemetry of Swagger UI", () => {
    const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
    const { allowScripts } = JSON.parse(readFileSync("package.json", "utf8"));
    const paths = Object.keys(packages).filter((path) => packages[path].hasInstallScript === true);
    const names = paths.map((path) => path.replace(/^.*node_modules\//, ""));
    expect([...new Set(names)].sort()).toEqual(Object.keys(allowScripts).sort());
    // npm before version 11 ignores allowScripts, so `overrides` replaces the package with an empty one.
    expect(packages["node_modules/@scarf/scarf"].name).toBe("noop2");
  });

  test("gets an entry for each package that a system lacks, limited to that system", () => {
    const tool = {
      version: "1.0.0",
      dev: true,
      optionalDependencies: { "@t/cli-linux-x64-musl": "1.0.0", "@t/cli-win32-arm64": "1.0.0" },
    };
    const { packages } = JSON.parse(completed({ packages: { "node_modules/t": tool } }));
    expect(packages["node_modules/@t/cli-linux-x64-musl"]).toEqual({
      version: "1.0.0",
      cpu: ["x64"],
      dev: true,
      integrity: INTEGRITY,
      libc: ["musl"],
      optional: true,
      os: ["linux"],
    });
    expect(packages["node_modules/@t/cli-win32-arm64"]).toMatchObject({ cpu: ["arm64"], os: ["win32"] });
  });

  test("gets an entry under the package that needs it if a different version would be found first", () => {
    const packages = {
      "node_modules/a/node_modules/t": { version: "1.0.0", optionalDependencies: { "t-darwin-arm64": "1.0.0" } },
      "node_modules/t-darwin-arm64": { version: "2.0.0" },
    };
    const after = JSON.parse(completed({ packages })).packages;
    expect(after["node_modules/a/node_modules/t/node_modules/t-darwin-arm64"]).toMatchObject({ version: "1.0.0" });
    expect(after["node_modules/t-darwin-arm64"]).toEqual({ version: "2.0.0", integrity: INTEGRITY });
  });

  test("is not completed if the name of a package does not contain its system", () => {
    const packages = { "node_modules/t": { version: "1.0.0", optionalDependencies: { fsevents: "2.3.3" } } };
    expect(() => completed({ packages })).toThrow(/does not say for which system/);
  });

  test("contains no registry URLs after completion", () => {
    const packages = { "node_modules/t": { version: "1.0.0", resolved: "https://registry.example/t.tgz" } };
    expect(completed({ packages })).not.toContain("registry.example");
  });

  test("keeps the folder of a workspace, which is not a registry URL", () => {
    const packages = { "node_modules/t": { resolved: "client", link: true } };
    expect(JSON.parse(completed({ packages })).packages).toEqual(packages);
  });
});
