import { describe, expect, it } from "vitest";
import {
  keyPermissionName,
  PERMISSIONS,
  PUBLIC_KEY_PERMISSIONS,
  permissionsOfKey,
  SECRET_KEY_PERMISSIONS,
  WEAKEN,
} from "../../../../src/accounts/roles/permissions.ts";
import { ROLE_PERMISSIONS, ROLES } from "../../../../src/accounts/roles/roles.ts";

// The first two columns of the table in decisions 7.
const DOMAINS = {
  merchant: ["view", "update", "delete", "billing"],
  team: ["view", "invite", "update", "remove"],
  invoice: ["view", "create", "update", "cancel", "delete"],
  product: ["view", "create", "update", "delete"],
  customer: ["view", "update", "delete"],
  wallet: ["view", "create", "update", "delete"],
  payment: ["view", "resolve"],
  webhook: ["view", "create", "update", "delete"],
  api_key: ["view", "create", "delete"],
  audit: ["view"],
};

const NAMES = PERMISSIONS.map(keyPermissionName);

describe("the permissions", () => {
  it("are exactly 34 in 10 domains, as decisions 7 lists them", () => {
    const expected = Object.entries(DOMAINS).flatMap(([domain, acts]) => acts.map((act) => `${domain}:${act}`));
    expect(expected).toHaveLength(34);
    expect([...PERMISSIONS].sort()).toEqual(expected.sort());
    expect(new Set(PERMISSIONS.map((each) => each.split(":")[0])).size).toBe(10);
  });

  it("have one view permission in each domain", () => {
    const views = PERMISSIONS.filter((each) => each.endsWith(":view")).map((each) => each.split(":")[0]);
    expect(views.sort()).toEqual(Object.keys(DOMAINS).sort());
  });

  it("have distinct names for keys, in capitals and underscores, like API_KEY_VIEW", () => {
    expect(NAMES.filter((name) => !/^[A-Z]+(_[A-Z]+)+$/.test(name))).toEqual([]);
    expect(new Set(NAMES).size).toBe(34);
    expect(NAMES).toEqual(expect.arrayContaining(["INVOICE_CREATE", "API_KEY_VIEW", "MERCHANT_BILLING"]));
  });
});

describe("the permissions of a key", () => {
  it("are read back from their names, individually and all at once", () => {
    for (const permission of SECRET_KEY_PERMISSIONS) {
      expect([...permissionsOfKey([keyPermissionName(permission)])]).toEqual([permission]);
    }
    expect(permissionsOfKey([...NAMES, "PROTECTION_WEAKEN"])).toEqual(new Set(SECRET_KEY_PERMISSIONS));
    expect(permissionsOfKey([])).toEqual(new Set());
  });

  it.each([
    "",
    "*",
    "INVOICE",
    "INVOICE_",
    "invoice:create",
    "Invoice_Create",
    "INVOICE_CREATE ",
    "ADMIN",
    "INVOICE_*",
    "__proto__",
    // Reserved for users, even if a key's row names them.
    "TEAM_INVITE",
    "API_KEY_CREATE",
    "MERCHANT_DELETE",
  ])("gain nothing from the name %j", (name) => {
    expect(permissionsOfKey([name])).toEqual(new Set());
  });

  it("are at most 28 for a secret key: those not reserved for users, and the permission to weaken protections", () => {
    const userOnly = [
      "MERCHANT_DELETE",
      "MERCHANT_BILLING",
      "TEAM_INVITE",
      "TEAM_UPDATE",
      "TEAM_REMOVE",
      "API_KEY_CREATE",
      "API_KEY_DELETE",
    ];
    expect(SECRET_KEY_PERMISSIONS).toHaveLength(28);
    expect(SECRET_KEY_PERMISSIONS.map(keyPermissionName).sort()).toEqual(
      [...NAMES.filter((name) => !userOnly.includes(name)), keyPermissionName(WEAKEN)].sort(),
    );
    for (const role of ROLES) expect(ROLE_PERMISSIONS[role].has(WEAKEN)).toBe(false);
  });

  it("are at most 3 for a public key, all of which a secret key may hold", () => {
    expect(PUBLIC_KEY_PERMISSIONS.map(keyPermissionName).sort()).toEqual([
      "INVOICE_CREATE",
      "INVOICE_VIEW",
      "PRODUCT_VIEW",
    ]);
    expect(SECRET_KEY_PERMISSIONS).toEqual(expect.arrayContaining([...PUBLIC_KEY_PERMISSIONS]));
  });
});
