import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KEY_PERMISSION_NAMES, ungrantable } from "../../../../src/accounts/api-keys/grant.ts";
import { ROLES } from "../../../../src/accounts/roles/roles.ts";
import { RUNS } from "../../../support/property-runs.ts";

const KINDS = ["SECRET", "PUBLIC"] as const;
/** Copied by hand from decisions 7. */
const USER_ONLY =
  "MERCHANT_DELETE MERCHANT_BILLING TEAM_INVITE TEAM_UPDATE TEAM_REMOVE API_KEY_CREATE API_KEY_DELETE".split(" ");
const PUBLIC = ["INVOICE_VIEW", "INVOICE_CREATE", "PRODUCT_VIEW"];
const MEMBERS_EDITS = "INVOICE_CREATE INVOICE_UPDATE PRODUCT_CREATE PRODUCT_UPDATE CUSTOMER_UPDATE".split(" ");

const grantable = (kind: (typeof KINDS)[number], role: (typeof ROLES)[number]) => {
  const refused = ungrantable({ kind, names: KEY_PERMISSION_NAMES, role });
  return KEY_PERMISSION_NAMES.filter((name) => !refused.includes(name));
};
const views = KEY_PERMISSION_NAMES.filter((name) => name.endsWith("_VIEW"));

describe("the permissions that a user may grant to an API key", () => {
  it("are 28 of the 35 for a secret key of an owner or an admin, including the permission that only keys can have", () => {
    expect(KEY_PERMISSION_NAMES).toHaveLength(35);
    for (const role of ["OWNER", "ADMIN"] as const) {
      expect(grantable("SECRET", role)).toEqual(KEY_PERMISSION_NAMES.filter((name) => !USER_ONLY.includes(name)));
      expect(grantable("SECRET", role)).toHaveLength(28);
    }
  });

  it("include the permission to weaken protections only if the user may create keys", () => {
    for (const role of ROLES)
      expect(grantable("SECRET", role).includes("PROTECTION_WEAKEN")).toBe(role === "OWNER" || role === "ADMIN");
    expect(grantable("PUBLIC", "OWNER")).not.toContain("PROTECTION_WEAKEN");
  });

  it("never exceed the permissions of the user's own role", () => {
    expect(grantable("SECRET", "MEMBER").toSorted()).toEqual([...views, ...MEMBERS_EDITS].toSorted());
    expect(grantable("SECRET", "VIEWER")).toEqual(views);
  });

  it("are limited to the browser-safe ones for a public key", () => {
    for (const role of ["OWNER", "ADMIN", "MEMBER"] as const) {
      expect(grantable("PUBLIC", role).toSorted()).toEqual(PUBLIC.toSorted());
    }
    expect(grantable("PUBLIC", "VIEWER").toSorted()).toEqual(["INVOICE_VIEW", "PRODUCT_VIEW"]);
  });

  it("exclude unknown and user-only names, which are reported in the order given", () => {
    const names = ["NO_SUCH", "INVOICE_VIEW", "MERCHANT_DELETE", "invoice:view", ""];
    const refused = ["NO_SUCH", "MERCHANT_DELETE", "invoice:view", ""];
    expect(ungrantable({ kind: "SECRET", names, role: "OWNER" })).toEqual(refused);
  });

  it("are decided separately for each requested name, regardless of the other names in the list", () => {
    const names = fc.array(fc.oneof(fc.constantFrom(...KEY_PERMISSION_NAMES), fc.string()), { maxLength: 40 });
    fc.assert(
      fc.property(names, fc.constantFrom(...KINDS), fc.constantFrom(...ROLES), (list, kind, role) => {
        const one = (name: string) => ungrantable({ kind, names: [name], role });
        expect(ungrantable({ kind, names: list, role })).toEqual(list.flatMap(one));
      }),
      { numRuns: RUNS },
    );
  });
});
