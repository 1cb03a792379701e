// The form of an endpoint: what it sends is what it shows, and an endpoint for a plugin begins with what says that an invoice is settled.
import { describe, expect, it } from "vitest";
import { ALL_OF_PLUGINS, eventNames, heardBy } from "../../../dashboard/src/developers/heard.ts";
import { BY_HAND } from "../../../src/commerce/greenfield/webhook-type.ts";

describe("what an endpoint hears", () => {
  it("is everything for a new one, and for a plugin what says that an invoice is settled", () => {
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
  ] as const)("of an endpoint in the format %s for %j stays as it is in an untouched form", (format, events) => {
    const names = eventNames(heardBy({ format, events: [...events] }));
    expect(names.toSorted()).toEqual(events.toSorted());
  });
});
