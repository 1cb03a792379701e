import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";

const create = (...names: string[]) =>
  spawnSync(process.execPath, ["scripts/create-merchant.ts", ...names], { encoding: "utf8" });

describe("making a merchant for a deployment", () => {
  test("any name becomes SQL that holds no key, and the keys are shown apart from it", () => {
    const { status, stdout, stderr } = create(`My shop; X's "best"\never`);
    expect(status).toBe(0);
    expect(stdout.trimEnd().split(";\n")).toHaveLength(3);
    const [, secretKey = "absent"] = /^Secret key (sk_\w+)$/m.exec(stderr) ?? [];
    expect(secretKey).toMatch(/^sk_/);
    expect(stdout).not.toContain(secretKey);
  });

  test.each([[[" "]], [["My", "shop"]], [["x".repeat(201)]]])(
    "%j ends with one sentence, a failure and no SQL",
    (names) => {
      const { status, stdout, stderr } = create(...names);
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    },
  );
});
