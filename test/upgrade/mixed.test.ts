// For some minutes after a deploy or a rollback, one release's edge calls objects that run another. The contract tests of the edge's release must
// pass with both, except for what needs this release's objects. `npm run test:upgrade` runs all of them, `npm run test:all` a few.
import { globSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { checkOutMixed, PREVIOUS_RELEASE, runContract, whyMissing } from "./previous-release.ts";

/** Tests about granted and revoked rights, keys, and their invoices. */
const CHOSEN = ["test/contract/2.3-teams.test.ts"];
/** Tests that do not depend on the Worker's responses, and the tests of the fake, which cover everything that is new in this release. */
const LEFT_OUT = ["8-client-fake", "8-client-package", "guides", "static-assets", "wrangler-dev"];

/** In this release, the customer of an invoice has `merchantId`, `createdAt` and `updatedAt`, which objects of the previous release omit. */
const CUSTOMER = [
  "2.2-customers.test.ts > the customer of an invoice > is a new customer every time when no email is given",
  "2.2-invoices.test.ts > the invoice object > reads the same as in the answer to its creation",
  "2.2-invoices.test.ts > the invoice object > returns every field of the request",
  "3.1-invoice-states.test.ts > an invoice that awaits payment > can be given a customer that it did not have before",
  "3.1-invoice-states.test.ts > an invoice that awaits payment > keeps the fields that a change does not name",
  "4.4-create-invoice.test.ts > creating an invoice > works for an existing client that only changed its base URL",
  "4.4-list-invoices.test.ts > a list > shows complete invoices, newest first",
  "5-public-keys.test.ts > a public key > can neither change a customer nor learn about one",
];
/** These also fail because objects of the previous release do not treat null as an absent field. */
const NULLS = [
  "2.2-amounts.test.ts > currency > defaults to USD when it is null",
  "2.2-customers.test.ts > the customer of an invoice > is the same in a create and a change as on the customer's own route, times included",
];
/** Objects of the previous release leave the search index to a job. These tests find their data only after it has run. */
const SEARCH = [
  "4.4-list-invoices.test.ts > search > finds by words of the name and by the start of a word, in any order and case",
  "4.4-list-invoices.test.ts > search > has no wildcards: characters other than letters and digits only separate words",
  "8-client.test.ts > a creation that failed can be finished later with the idempotency key from the error",
  "8-client.test.ts > creating an invoice twice with one idempotency key makes one invoice",
  "8-client.test.ts > iterating over a list yields every row once, newest first",
  "8-client.test.ts > retries after lost answers make only one invoice",
  "8-idempotency.test.ts > the same key and body > return the first status and bytes again, marked as a replay, and create no second invoice",
  "8-idempotency.test.ts > the same key and body > sent 200 times at once create one invoice with one address and return 200 identical answers",
  "8-idempotency.test.ts > the same key and body > sent while the first request is running wait for its answer",
];

const isWhole = process.env.UPGRADE === "whole";
/** Stops runs that hang. On a busy machine the few tests take five minutes. */
const TIMEOUT_MS = isWhole ? 3_600_000 : 1_200_000;

interface Pair {
  readonly name: string;
  /** A release; undefined means this release. */
  readonly edge: string | undefined;
  readonly objects: string | undefined;
  /** `waiting`: tests that fail because they depend on the objects' release. `late`: tests that may fail because their data is indexed later. */
  readonly waiting: readonly string[];
  readonly late: readonly string[];
}

const PAIRS: readonly Pair[] = [
  {
    name: "this release's edge with the previous release's objects",
    edge: undefined,
    objects: PREVIOUS_RELEASE,
    waiting: [...CUSTOMER, ...NULLS],
    late: SEARCH,
  },
  {
    name: "the previous release's edge with this release's objects",
    edge: PREVIOUS_RELEASE,
    objects: undefined,
    waiting: CUSTOMER,
    late: [],
  },
];

const ended: (() => void)[] = [];
afterAll(() => {
  for (const remove of ended) remove();
});

describe.each(PAIRS)("$name", ({ edge, objects, waiting, late }) => {
  it("keeps the contract, except for features that depend on the objects", { timeout: TIMEOUT_MS }, async ({
    skip,
  }) => {
    const missing = whyMissing(PREVIOUS_RELEASE);
    skip(missing !== undefined, missing);
    const checkout = checkOutMixed({ edge, objects });
    ended.push(checkout.remove);
    const { output } = await runContract(checkout, isWhole ? filesIn(checkout.folder) : CHOSEN);
    const failed = failedIn(output).filter((name) => !late.some((each) => each === name));
    expect(failed, output).toEqual(isWhole ? waiting.toSorted() : []);
    const [, passed = "0"] = /^(\d+) passed, \d+ failed/m.exec(output) ?? [];
    expect(Number(passed), output).toBeGreaterThanOrEqual(isWhole ? 900 : 6);
  });
});

function filesIn(folder: string): readonly string[] {
  const files = globSync("test/contract/*.test.ts", { cwd: folder });
  return files.filter((file) => !LEFT_OUT.some((name) => file.endsWith(`/${name}.test.ts`)));
}

/** Tests that failed, and files that could not be loaded. */
function failedIn(output: string): readonly string[] {
  const found = output.matchAll(/^ *FAIL +(?:\|contract\||contract) +test\/contract\/(.*)$/gm);
  return [...new Set([...found].map(([, name = ""]) => name.trim()))].sort();
}
