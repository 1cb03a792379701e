import { describe, expect, it } from "vitest";
import { changedFacts } from "../../../../src/platform/audit/entry.ts";

describe("the facts of a change", () => {
  it("are the fields that differ, with their old and new values", () => {
    const before = { name: "A", isEnabled: true, ips: ["1.1.1.1"], note: null };
    expect(changedFacts(before, { name: "B", isEnabled: true, ips: ["1.1.1.1"], note: null })).toEqual({
      before: { name: "A" },
      after: { name: "B" },
    });
    expect(changedFacts(before, { ips: ["1.1.1.1", "::1"], added: 1 })).toEqual({
      before: { ips: ["1.1.1.1"], added: null },
      after: { ips: ["1.1.1.1", "::1"], added: 1 },
    });
    expect(changedFacts(before, before)).toEqual({ before: {}, after: {} });
  });
});
