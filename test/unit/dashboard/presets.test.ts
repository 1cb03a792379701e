// Named ranges of days, and presets for what a key may do.
import { describe, expect, it } from "vitest";
import { KEY_PRESETS, presetOfPermissions, presetPermissions } from "../../../dashboard/src/developers/key-presets.ts";
import { PRESETS, presetDays, presetOf } from "../../../dashboard/src/shell/day-presets.ts";
import { elapsed } from "../../../dashboard/src/shell/formats.ts";
import { ROLE_PERMISSIONS } from "../../../src/accounts/roles/roles.ts";

describe("a named range of days", () => {
  it.each([
    ["today", "2026-03-31", "2026-03-31", "2026-03-31"],
    ["7", "2026-03-03", "2026-02-25", "2026-03-03"],
    ["30", "2026-03-01", "2026-01-31", "2026-03-01"],
    ["month", "2026-03-31", "2026-03-01", "2026-03-31"],
    ["lastMonth", "2026-03-31", "2026-02-01", "2026-02-28"],
    ["lastMonth", "2028-03-01", "2028-02-01", "2028-02-29"],
    ["lastMonth", "2026-01-15", "2025-12-01", "2025-12-31"],
  ] as const)("%s, on %s, is from %s to %s", (preset, today, from, to) => {
    expect(presetDays(preset, today)).toEqual({ from, to });
  });

  it("is recognised by its dates; if several ranges have the same dates, the first one is chosen", () => {
    for (const preset of PRESETS) expect(presetOf(presetDays(preset, "2026-03-18"), "2026-03-18")).toBe(preset);
    expect(presetOf(presetDays("month", "2026-03-01"), "2026-03-01")).toBe("today");
    expect(presetOf({ from: "2026-03-02", to: "2026-03-04" }, "2026-03-18")).toBeUndefined();
    expect(presetOf({}, "2026-03-18")).toBeUndefined();
  });
});

describe("a key's permissions, preset by its purpose,", () => {
  it("never exceed what its creator and its kind may hold", () => {
    const shop = ["invoice:view", "invoice:create", "invoice:update"];
    expect(presetPermissions("SHOP", "SECRET", [...ROLE_PERMISSIONS.OWNER])).toEqual([...shop, "invoice:cancel"]);
    // A member may not cancel invoices, so none of their keys may.
    const held = [...ROLE_PERMISSIONS.MEMBER];
    expect(presetPermissions("SHOP", "SECRET", held)).toEqual(shop);
    expect(presetPermissions("READ", "SECRET", held).every((each) => each.endsWith(":view"))).toBe(true);
    for (const preset of KEY_PRESETS)
      for (const kind of ["SECRET", "PUBLIC"] as const)
        for (const each of presetPermissions(preset, kind, held)) expect(held).toContain(each);
    expect(presetPermissions("SHOP", "SECRET", [])).toEqual([]);
  });

  it("match no preset once another permission is selected", () => {
    const held = [...ROLE_PERMISSIONS.OWNER];
    const shop = presetPermissions("SHOP", "SECRET", held);
    expect(presetOfPermissions(shop, "SECRET", held)).toBe("SHOP");
    expect(presetOfPermissions([...shop, "product:view"], "SECRET", held)).toBeUndefined();
    expect(presetOfPermissions(presetPermissions("ALL", "SECRET", held), "SECRET", held)).toBe("ALL");
  });
});

describe("the duration of a step", () => {
  it.each([
    [0, "0 sec"],
    [42, "42 sec"],
    [60, "1 min"],
    [185, "3 min, 5 sec"],
    [3_600, "1 hr"],
    [2 * 86_400 + 4 * 3_600 + 59, "2 days, 4 hr"],
    [-5, "0 sec"],
  ])("of %i seconds is shown as %s", (seconds, expected) => {
    const to = new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
    expect(elapsed("2026-01-01T00:00:00.000Z", to, { locale: "en-US" })).toBe(expected);
  });
});
