// The endpoint form sends the events that it shows. An endpoint for a plugin starts with the events that settle an invoice.
import { describe, expect, it } from "vitest";
import { ALL_OF_PLUGINS, eventNames, heardBy } from "../../../dashboard/src/developers/heard.ts";
import { BY_HAND } from "../../../src/commerce/greenfield/webhook-type.ts";

describe("the events of an endpoint", () => {
  it("are all events for a new endpoint, but only those that settle an invoice for a plugin's endpoint", () => {
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
  ] as const)("are sent unchanged when the form is not touched (%s, %j)", (format, events) => {
    const names = eventNames(heardBy({ format, events: [...events] }));
    expect(names.toSorted()).toEqual(events.toSorted());
  });
});
