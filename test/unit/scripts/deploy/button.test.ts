// What the "Deploy to Cloudflare" button reads from the repository.
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import manifest from "../../../../package.json";
import { BASE } from "../../../support/deploys.ts";

const { bindings } = manifest.cloudflare;

describe("the button", () => {
  it("asks only for MASTER_KEY, and suggests no value for it", () => {
    expect(parseEnv(readFileSync(".dev.vars.example", "utf8"))).toEqual({ MASTER_KEY: "" });
  });

  it("describes each value that it asks for, and nothing else", () => {
    const queues = BASE.queues?.producers?.map(({ binding }) => binding) ?? [];
    const databases = BASE.d1_databases?.map(({ binding }) => String(binding)) ?? [];
    const wanted = ["MASTER_KEY", ...databases, ...queues, ...Object.keys(BASE.vars ?? {})];
    expect(Object.keys(bindings).sort()).toEqual(wanted.sort());
  });

  it("offers no variable that makes a deployment less secure", () => {
    expect(BASE.vars).toMatchObject({ ENVIRONMENT: "production", WEBHOOK_LOOPBACK: "", DEV_CONTROL: "" });
  });

  it("runs a deploy script that exists, and has the same URL in the README and in the deploy guide", () => {
    expect(manifest.scripts.deploy).toBe("node scripts/deploy.ts");
    const addresses = ["README.md", "docs/operations/deploy.md"].flatMap((page) => [
      ...readFileSync(page, "utf8").matchAll(/https:\/\/deploy\.workers\.cloudflare\.com\/\?url=(https:[^)]+)/g),
    ]);
    expect(addresses.length).toBe(2);
    expect(new Set(addresses.map(([, address]) => address)).size).toBe(1);
  });
});
