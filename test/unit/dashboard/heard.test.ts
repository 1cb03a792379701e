// The form of an endpoint: what it sends is what it shows, and an endpoint for a plugin starts with the events that say an invoice is
// settled.
import { describe, expect, it } from "vitest";
import { ALL_OF_PLUGINS, eventNames, heardBy } from "../../../dashboard/src/developers/heard.ts";
import { BY_HAND } from "../../../src/commerce/greenfield/webhook-type.ts";

describe("the events of an endpoint", () => {
  it("are all events for a new one, and for a plugin those that say an invoice is settled", () => {
    expect(eventNames(heardBy(undefined))).toEqual(["*"]);
    const forPlugin = heardBy(undefined, "GREENFIELD");
    expect(forPlugin.hears).toBe("SETTLED");
    expect(eventNames(forPlugin)).toEqual(BY_HAND);
    expect(eventNames({ ...forPlugin, hears: "ALL" })).toEqual(ALL_OF_PLUGINS);
  });

  it.each([
    ["STANDARD", ["*"]],
    ["STANDARD", ["invoice.*", "ping"]],
    ["GREENFIELD", BY_HAND],
    ["GREENFIELD", ALL_OF_PLUGINS],
    ["GREENFIELD", ["invoice.paid", "invoice.cancelled"]],
  ] as const)("stay as they are in an untouched form, in the format %s for %j", (format, events) => {
    const names = eventNames(heardBy({ format, events: [...events] }));
    expect(names.toSorted()).toEqual(events.toSorted());
  });
});
