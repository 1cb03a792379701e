import { describe, expect, it } from "vitest";
import { isProtectedRole, mayChangeRole, mayInvite, mayRemove } from "../../../../src/accounts/teams/rank.ts";
import { ROLES, type Role } from "../../../../src/accounts/teams/roles.ts";
import { MAY_CHANGE } from "../../../support/rank-table.ts";

describe("who may change whose role", () => {
  it("is as the table says by hand, in all 4 x 4 x 4 combinations", () => {
    const all = ROLES.flatMap((actor) =>
      ROLES.flatMap((target) =>
        ROLES.filter((role) => mayChangeRole(actor, target, role)).map((role) => `${actor} ${target} ${role}`),
      ),
    );
    expect(all.sort()).toEqual([...MAY_CHANGE].sort());
  });

  it("never touches an OWNER and never makes one", () => {
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
  it("is for whoever is strictly above", () => {
    const below: Readonly<Record<Role, readonly Role[]>> = {
      OWNER: ["ADMIN", "MEMBER", "VIEWER"],
      ADMIN: ["MEMBER", "VIEWER"],
      MEMBER: ["VIEWER"],
      VIEWER: [],
    };
    for (const actor of ROLES) expect(ROLES.filter((other) => may(actor, other))).toEqual(below[actor]);
  });
});

describe("giving a role by invitation", () => {
  it("takes a step-up where its holder may change wallets or keys", () => {
    expect(ROLES.filter(isProtectedRole)).toEqual(["OWNER", "ADMIN"]);
  });
});
