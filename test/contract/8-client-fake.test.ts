// Compares the client's in-memory fake with the service: each behaviour runs on both, and every answer must be equal.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CODES } from "../../client/testing/refusal.ts";
import { type Behaviours, INVOICES } from "./fake-invoice-behaviours.ts";
import { REFUSED } from "./fake-refusal-behaviours.ts";
import { PAYMENTS, SHOP } from "./fake-shop-behaviours.ts";
import { openStages, type Stages } from "./fake-stages.ts";
import { normalized } from "./fake-transcript.ts";

const ALL: Readonly<Record<string, Behaviours>> = { INVOICES, PAYMENTS, SHOP, REFUSED };
const COUNT = Object.values(ALL).flatMap(Object.keys).length;

let stages: Stages;
beforeAll(async () => {
  stages = await openStages(COUNT);
});
afterAll(() => stages?.close());

/** Error codes that both the service and the fake returned. */
const seen = new Set<string>();

describe.each(Object.entries(ALL))("%s, with the same responses from service and fake", (_, behaviours) => {
  it.each(Object.entries(behaviours))("%s", async (_name, behave) => {
    const real = await stages.real();
    await behave(real);
    const fake = stages.fake(real);
    await behave(fake);
    expect(normalized(fake.transcript)).toEqual(normalized(real.transcript));
    for (const { body } of fake.transcript) seen.add(String(Object(body).code));
  });
});

it("the service and the fake each returned every code that the fake can return, and no other code", () => {
  expect([...seen].filter((code) => code !== "undefined").sort()).toEqual([...CODES].sort());
});
