// An upgrade applies the migrations first. The Worker of the previous release then runs on this release's tables for a while, or permanently if the
// deploy fails. So its own contract tests must pass on our tables. `npm run test:upgrade` runs all of them; `npm run test:all` runs the few that
// together write to all tables.
import { afterAll, describe, expect, it } from "vitest";
import { type Checkout, checkOutOnOurTables, PREVIOUS_RELEASE, runContract, whyMissing } from "./previous-release.ts";

const CHOSEN = [
  "test/contract/2.2-payments.test.ts",
  "test/contract/2.3-teams.test.ts",
  "test/contract/4.1-register-wallet.test.ts",
  "test/contract/4.4-create-invoice.test.ts",
  "test/contract/6-webhooks.test.ts",
];
/** All tests except `wrangler dev` in a fresh clone, which takes minutes and does not depend on tables. */
const ALL = ["--exclude", "test/contract/wrangler-dev.test.ts"];

const isWhole = process.env.UPGRADE === "whole";
const TIMEOUT_MS = isWhole ? 3_600_000 : 600_000;

let checkout: Checkout | undefined;
afterAll(() => checkout?.remove());

describe("the previous release", () => {
  it("keeps its contract on this release's tables", { timeout: TIMEOUT_MS }, async ({ skip }) => {
    const missing = whyMissing(PREVIOUS_RELEASE);
    skip(missing !== undefined, missing);
    checkout = checkOutOnOurTables(PREVIOUS_RELEASE);
    const { isGood, output } = await runContract(checkout, isWhole ? ALL : CHOSEN);
    expect(isGood, output).toBe(true);
    // A run with missing files would also be reported as successful.
    const [, passed = "0"] = /^(\d+) passed, 0 failed/m.exec(output) ?? [];
    expect(Number(passed), output).toBeGreaterThan(isWhole ? 400 : 100);
  });

  it("is skipped, with the reason, if the clone does not contain it", () => {
    expect(whyMissing("HEAD")).toBeUndefined();
    expect(whyMissing("0".repeat(40))).toContain("git fetch --unshallow --tags");
  });
});
