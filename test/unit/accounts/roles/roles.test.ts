import { describe, expect, it } from "vitest";
import { PERMISSIONS } from "../../../../src/accounts/roles/permissions.ts";
import { outranks, ROLE_PERMISSIONS, ROLES, type Role } from "../../../../src/accounts/roles/roles.ts";

describe("the roles", () => {
  it("have 34, 32, 15 and 10 permissions (Interface 2.3)", () => {
    expect(ROLES.map((role) => [role, ROLE_PERMISSIONS[role].size])).toEqual([
      ["OWNER", 34],
      ["ADMIN", 32],
      ["MEMBER", 15],
      ["VIEWER", 10],
    ]);
  });

  it("are nested: each has all permissions of the role below it", () => {
    for (const [at, role] of ROLES.entries()) {
      const below = ROLES.slice(at + 1).flatMap((lower) => [...ROLE_PERMISSIONS[lower]]);
      expect(below.filter((each) => !ROLE_PERMISSIONS[role].has(each))).toEqual([]);
    }
  });

  it("give an ADMIN everything except merchant:delete and merchant:billing", () => {
    expect(PERMISSIONS.filter((each) => !ROLE_PERMISSIONS.ADMIN.has(each))).toEqual([
      "merchant:delete",
      "merchant:billing",
    ]);
  });

  it("let a MEMBER create and edit invoices and products and edit customers, and view the rest", () => {
    const more = [...ROLE_PERMISSIONS.MEMBER].filter((each) => !ROLE_PERMISSIONS.VIEWER.has(each));
    expect(more.sort()).toEqual([
      "customer:update",
      "invoice:create",
      "invoice:update",
      "product:create",
      "product:update",
    ]);
  });

  it("do not let a MEMBER delete anything or manage a team", () => {
    const held = [...ROLE_PERMISSIONS.MEMBER];
    expect(held.filter((each) => /:(delete|cancel|invite|remove)$/.test(each) || each === "team:update")).toEqual([]);
    expect(held.filter((each) => /^(api_key|webhook|wallet|payment):/.test(each) && !each.endsWith(":view"))).toEqual(
      [],
    );
  });

  it("give a VIEWER only the view permission of each domain", () => {
    const domains = [...ROLE_PERMISSIONS.VIEWER].map((each) => each.replace(/:view$/, ""));
    expect(domains.sort()).toEqual([...new Set(PERMISSIONS.map((each) => each.split(":")[0]))].sort());
  });

  it("outrank only the roles strictly below them, for all 16 pairs", () => {
    const above: Readonly<Record<Role, readonly Role[]>> = {
      OWNER: ["ADMIN", "MEMBER", "VIEWER"],
      ADMIN: ["MEMBER", "VIEWER"],
      MEMBER: ["VIEWER"],
      VIEWER: [],
    };
    const pairs = ROLES.flatMap((actor) => ROLES.map((target) => ({ actor, target })));
    expect(pairs).toHaveLength(16);
    for (const { actor, target } of pairs)
      expect([actor, target, outranks(actor, target)]).toEqual([actor, target, above[actor].includes(target)]);
  });
});
