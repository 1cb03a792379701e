import { describe, expect, it } from "vitest";
import { ROLES, type Role } from "../../../../src/accounts/roles/roles.ts";
import { isProtectedRole, mayChangeRole, mayInvite, mayRemove } from "../../../../src/accounts/teams/rank.ts";
import { MAY_CHANGE } from "../../../support/rank-table.ts";

describe("the rule about who may change whose role", () => {
  it("matches a handwritten table in all 4 x 4 x 4 combinations", () => {
    const all = ROLES.flatMap((actor) =>
      ROLES.flatMap((target) =>
        ROLES.filter((role) => mayChangeRole(actor, target, role)).map((role) => `${actor} ${target} ${role}`),
      ),
    );
    expect(all.sort()).toEqual([...MAY_CHANGE].sort());
  });

  it("lets nobody change an OWNER's role, or make anyone an OWNER", () => {
    for (const actor of ROLES) {
      for (const role of ROLES) {
        expect(mayChangeRole(actor, "OWNER", role)).toBe(false);
        expect(mayChangeRole(actor, role, "OWNER")).toBe(false);
      }
    }
  });
});

describe.each([
  ["removing", mayRemove],
  ["inviting", mayInvite],
])("%s", (_, may) => {
  it("is allowed for strictly lower roles only", () => {
    const below: Readonly<Record<Role, readonly Role[]>> = {
      OWNER: ["ADMIN", "MEMBER", "VIEWER"],
      ADMIN: ["MEMBER", "VIEWER"],
      MEMBER: ["VIEWER"],
      VIEWER: [],
    };
    for (const actor of ROLES) expect(ROLES.filter((other) => may(actor, other))).toEqual(below[actor]);
  });
});

describe("a step-up for an invitation", () => {
  it("is required for the roles that may change wallets or keys: OWNER and ADMIN", () => {
    expect(ROLES.filter(isProtectedRole)).toEqual(["OWNER", "ADMIN"]);
  });
});
