import { describe, expect, it } from "vitest";
import { EVENT_TYPES } from "../../../../src/platform/events/event.ts";

// The types in webhooks.md "Types", by domain.
const DOCUMENTED = {
  invoice:
    "created updated partially_paid pending_confirmation paid underpaid overpaid expired cancelled payment_late reversed marked",
  payment: "created detected updated confirmed paid underpaid overpaid expired dropped reorged unmatched matched",
  wallet: "created updated deleted gap_limit_warning detection_degraded address_degraded amounts_low",
  team: "member_joined member_removed role_changed ownership_transferred",
  api_key: "created rotated deleted",
  webhook: "endpoint_disabled",
};

describe("event types", () => {
  it("are exactly the documented types", () => {
    const names = Object.entries(DOCUMENTED).flatMap(([of, list]) => list.split(" ").map((name) => `${of}.${name}`));
    expect([...EVENT_TYPES].toSorted()).toEqual([...names, "ping"].toSorted());
  });

  it("are each listed once", () => {
    expect(new Set(EVENT_TYPES).size).toBe(EVENT_TYPES.length);
  });
});
