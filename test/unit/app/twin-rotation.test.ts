// How the twin follows the runbook of a key rotation, and which losses and refusals it reports.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { lostOf, mayGo, refusedIn } from "../../twin/rotation.ts";
import { argumentsOf, commandsIn, keyStepsIn } from "../../twin/runbooks.ts";

const PAGE = readFileSync(join(resolve(import.meta.dirname, "../../.."), "docs/operations/deploy.md"), "utf8");

describe("the runbook of a rotation", () => {
  it("has three values of MASTER_KEY and one database query, in a form that the twin can parse", () => {
    expect(keyStepsIn(PAGE)).toEqual([["k1", "k2"], ["k2", "k1"], ["k2"]]);
    const questions = commandsIn(PAGE, "shop").filter((command) => command.includes("deployment_keys"));
    expect(questions).toHaveLength(1);
    expect(argumentsOf(questions[0] ?? "").slice(0, 6)).toEqual([
      "d1",
      "execute",
      "DB",
      "--remote",
      "--config",
      "wrangler.shop.jsonc",
    ]);
  });
});

describe("a rotation", () => {
  it("continues once wrangler reports the key as unused", () => {
    const answer = (isUnused: number) => {
      const results = [
        { key_id: "k1", is_unused: isUnused, may_go: "2026-11-30 12:00:00" },
        { key_id: "k2", is_unused: 0, may_go: null },
      ];
      return `a line of wrangler\n${JSON.stringify([{ results, success: true }], null, 2)}\n`;
    };
    expect(mayGo(answer(1), "k1")).toBe(true);
    expect(mayGo(answer(0), "k1")).toBe(false);
    expect(mayGo(answer(1), "k2")).toBe(false);
    expect(mayGo("no rows", "k1")).toBe(false);
  });

  it("has a finding for anything that changed or is no longer readable", () => {
    const before = new Map([
      ["the wallet wal_1", "0xa"],
      ["the invoice inv_1", "0xb"],
      ["the public key k1", "x"],
    ]);
    expect(lostOf(before, new Map([...before, ["the public key k2", "y"]]))).toEqual([]);
    const after = new Map([...before, ["the wallet wal_1", "0xa INTEGRITY_CHECK_FAILED"]]);
    after.delete("the invoice inv_1");
    expect(lostOf(before, after)).toEqual([
      "the wallet wal_1 showed 0xa before the rotation of MASTER_KEY, and now 0xa INTEGRITY_CHECK_FAILED",
      "the invoice inv_1 showed 0xb before the rotation of MASTER_KEY, and now undefined",
    ]);
  });

  it("has a finding for a request that was refused permanently, but not for one that a client had to repeat", () => {
    const answered = (...statuses: readonly number[]) =>
      statuses.map((status) => ({ route: "POST /invoices", status }));
    expect(refusedIn(answered(201, 200, 409, 503, 599))).toEqual([]);
    expect(refusedIn([{ route: "old key", status: 401 }])).toEqual([]);
    expect(refusedIn(answered(401, 500))).toEqual([
      "POST /invoices was answered 401 during the rotation of MASTER_KEY",
      "POST /invoices was answered 500 during the rotation of MASTER_KEY",
    ]);
  });
});
