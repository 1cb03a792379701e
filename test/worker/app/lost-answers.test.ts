// Calls every operation of the OpenAPI document in one deployment. The client repeats each request that is lost, or whose answer is lost, and must
// get the true result.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { SPECS } from "../../../src/app/app.ts";
import { nameOf } from "../../support/access-attempt.ts";
import { KEY_OR_MEMBER, MEMBER_ONLY, USER } from "../../support/access-table.ts";
import { useDocument } from "./reference-harness.ts";
import { type Caller, type Lost, Walk } from "./walk-harness.ts";
import { walkAccount, walkOperators } from "./walk-people.ts";
import { type Shop, walkShop, walkTeam } from "./walk-shop.ts";
import { openWorld, type World } from "./walk-world.ts";

/** The minimum number of operations that must be covered, each with a success that matches the document. */
const LEAST_REACHED = 160;

/** Operations that change something but are left out, and why. */
const NOT_WALKED: readonly string[] = [
  // These need a deployment that is not set up (set-up.test.ts).
  "beginSetUp",
  "redeemSetUpLink",
];

/** A provider's callback needs an answer from the provider, and metrics need a token; this deployment has neither. */
const NOT_READ: readonly string[] = ["finishProviderSignIn", "metrics"];

/** The query of each operation that requires one. */
const QUERIES: Readonly<Record<string, string>> = {
  search: "?q=Order",
  getTotals: "?from=2026-11-01&to=2026-11-30",
  exportStatement: "?month=2026-11",
  exportStatementCsv: "?month=2026-11",
};

const changing = SPECS.filter(({ method }) => method !== "GET").map(({ operationId }) => operationId);

/** Sends all reads, each as a caller who may send it. */
async function walkReads(walk: Walk, world: World, { owner, key, ids }: Shop): Promise<void> {
  const operator = await world.person({ operatorSinceMs: 1 });
  const callerOf = (name: string): Caller => {
    if (name in KEY_OR_MEMBER) return key;
    if (name in MEMBER_ONLY) return owner.as;
    if (!(name in USER)) return world.anybody;
    return USER[name]?.includes("operator") ? operator.as : owner.as;
  };
  for (const spec of SPECS.filter(({ method, answers }) => method === "GET" && answers[0]?.status === 200)) {
    const { operationId } = spec;
    if (NOT_READ.includes(operationId)) continue;
    const headers = { accept: spec.answers[0]?.alsoAs === "text/html" ? "text/html" : "*/*" };
    await walk.call(operationId, callerOf(nameOf(spec)), { params: ids, query: QUERIES[operationId] ?? "", headers });
  }
}

async function walkAll(lost: Lost): Promise<Walk> {
  const walk = new Walk(lost);
  const world = await openWorld();
  const shop = await walkShop(walk, world);
  if (lost === "ANSWER") await walkReads(walk, world, shop);
  await walk.call("mcp", shop.key, {
    headers: { accept: "application/json, text/event-stream" },
    body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
  });
  const customer = await world.person();
  await walk.call("startTestChain", customer.as, { body: { state: "RUNNING" } });
  await walk.call("payAsCustomer", customer.as, {
    body: {
      cryptocurrency: "USDC",
      network: "ETH_SEPOLIA",
      amountDue: "49.9",
      address: "0x52908400098527886E0F7030069857D2E4169EE7",
      requiredConfirmations: 2,
    },
  });
  await walkAccount(walk, world);
  await walkOperators(walk, world, String(shop.ids.merchantId));
  await walkTeam(walk, world, shop);
  return walk;
}

useDocument();
afterAll(() => vi.unstubAllGlobals());

describe("all operations", () => {
  const walks = new Map<Lost, Walk>();
  beforeAll(async () => {
    for (const lost of ["REQUEST", "ANSWER"] as const) walks.set(lost, await walkAll(lost));
  });

  it.each(["REQUEST", "ANSWER"] as const)(
    "report no false error when the client retries after the %s was lost",
    (lost) => {
      expect(walks.get(lost)?.falseErrors).toEqual([]);
    },
  );

  it("that change something are carried out by this test, apart from pages and a short list of exceptions", () => {
    const reached = walks.get("ANSWER")?.reached ?? new Set();
    const pages = SPECS.filter(({ isPage }) => isPage).map(({ operationId }) => operationId);
    expect(changing.filter((each) => !reached.has(each) && !pages.includes(each))).toEqual(NOT_WALKED);
    expect(reached.size).toBeGreaterThanOrEqual(LEAST_REACHED);
  });
});
