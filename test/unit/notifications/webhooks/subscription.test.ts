import fc from "fast-check";
import { expect, it } from "vitest";
import { createWebhookBody } from "../../../../src/notifications/webhooks/contract.ts";
import { nearestSubscription, SUBSCRIPTIONS } from "../../../../src/notifications/webhooks/subscription.ts";
import { EVENT_TYPES } from "../../../../src/platform/events/event.ts";
import { RUNS } from "../../../support/property-runs.ts";

it("the subscriptions are all event types, all domains with an event type, and *", () => {
  expect(SUBSCRIPTIONS).toEqual([
    ...EVENT_TYPES,
    "invoice.*",
    "payment.*",
    "wallet.*",
    "team.*",
    "api_key.*",
    "webhook.*",
    "*",
  ]);
});

it.each([
  ["invoice.payed", "invoice.paid"],
  ["INVOICE.PAID", "invoice.paid"],
  ["invoice", "invoice.*"],
  ["payments.*", "payment.*"],
  ["payment.confirm", "payment.confirmed"],
  ["api_keys.created", "api_key.created"],
  ["", "*"],
  ["all", "*"],
  [`ping${"x".repeat(100_000)}`, undefined],
])("the closest subscription to %s is %s", (text, nearest) => {
  expect(nearestSubscription(text)).toEqual(nearest);
});

it("each subscription is its own closest subscription", () => {
  for (const name of SUBSCRIPTIONS) expect(nearestSubscription(name)).toBe(name);
});

it("the request body keeps each subscription once, in the given order, and refuses any other string", () => {
  const schema = createWebhookBody();
  const parse = (events: readonly string[]) => schema.safeParse({ url: "https://a.example/", events });
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...SUBSCRIPTIONS), { minLength: 1, maxLength: 50 }), (names) => {
      expect(parse(names).data?.events).toBe(JSON.stringify([...new Set(names)]));
    }),
    { numRuns: RUNS },
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(parse([text]).success).toBe(SUBSCRIPTIONS.includes(text));
    }),
    { numRuns: RUNS },
  );
});
