// Groups of requests, with a fault at every call, and broken variants of the protocol, which must be caught. One more broken variant, a group that
// opens an object for a caller without rights, is caught by test/worker/app/merchant-object.test.ts.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  CAMPAIGN_LIMIT_MS,
  missingKinds,
  printReport,
  printWithTest,
  rareHits,
  runCampaign,
  schedulesOf,
} from "../engine/campaign.ts";
import { Lab } from "../engine/lab.ts";
import { BROKEN } from "./groups-broken.ts";
import { groupsScenario } from "./groups-scenario.ts";
import { WHOLE } from "./groups-system.ts";
import { QUESTIONS } from "./groups-tally.ts";

const count = schedulesOf(20_000, 50);
const CAUGHT_WITHIN = 200;

it(
  `requests of one merchant share their storage calls, and each is answered as if it were alone: ${count} schedules`,
  async () => {
    const scenario = groupsScenario(new Lab(), "groups");
    const report = await runCampaign(scenario, { count, keepsSeeds: true });
    printReport(scenario, report);
    expect(report.problems).toEqual([]);
    expect(rareHits(report)).toEqual([]);
    expect(missingKinds(report)).toEqual([]);
  },
  CAMPAIGN_LIMIT_MS,
);

it("the schedules cover every shared call of a group, and every operation that runs in a group", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => [path, readFileSync(`src/${path}`, "utf8")] as const);
  const asked = sources.flatMap(([, text]) =>
    [...text.matchAll(/\bgroup\.ask\([`"]([a-z]+(?: [a-z]+)*)/g)].map(([, name]) => name),
  );
  expect(asked.toSorted()).toEqual(QUESTIONS);
  const filesWith = (pattern: RegExp) => sources.flatMap(([path, text]) => (pattern.test(text) ? [path] : []));
  // Servers create through `createInvoice` of the API, and browsers through a product page's form.
  expect(filesWith(/runsInMerchantObject: true,/)).toEqual(["commerce/invoices/routes.ts"]);
  expect(filesWith(/\bhandOver\(/).toSorted()).toEqual([
    "accounts/pipeline/pipeline.ts",
    "checkout/pay/pages-of.tsx",
    "platform/http/handed-over.ts",
  ]);
});

describe(`within ${CAUGHT_WITHIN} schedules the simulator catches a group that`, () => {
  it.each(BROKEN)("%s", async (what, parts, problem) => {
    const report = await runCampaign(groupsScenario(new Lab(), `broken: ${what}`, { ...WHOLE, ...parts }), {
      count: CAUGHT_WITHIN,
      stopAt: problem,
    });
    const caught = report.problems.at(-1);
    printWithTest(`${what}: seed ${caught?.seed}: ${caught?.problem}`);
    expect(caught?.problem).toMatch(problem);
  });
});
