import { describe, expect, it } from "vitest";
import {
  acceptRefusal,
  INVITATION_LIFETIME_MS,
  invitationBodyOf,
  invitationStatus,
  type OfferedInvitation,
} from "../../../../src/accounts/invitations/invitation.ts";
import { ROLES } from "../../../../src/accounts/roles/roles.ts";
import { DAY_MS } from "../../../../src/lib/time.ts";

const NOW = 1_800_000_000_000;
const OFFERED: OfferedInvitation = {
  id: "tin_00000000000000000000000000",
  merchantId: "mer_00000000000000000000000000",
  email: "Guest@Example.com",
  emailKey: "guest@example.com",
  role: "MEMBER",
  tokenHash: "c".repeat(64),
  invitedBy: "usr_00000000000000000000000000",
  createdAtMs: NOW,
  updatedAtMs: NOW,
  expiresAtMs: NOW + INVITATION_LIFETIME_MS,
  acceptedAtMs: null,
  acceptedBy: null,
  revokedAtMs: null,
  mailedAtMs: NOW,
  mailDueAtMs: null,
  waitsForMailbox: false,
  isMerchantLive: true,
  inviterRole: "ADMIN",
  seatId: null,
};
const GUEST = { emailKey: "guest@example.com", isEmailVerified: true };

describe("an invitation", () => {
  it("is pending for exactly 7 days", () => {
    expect(INVITATION_LIFETIME_MS).toBe(7 * DAY_MS);
    expect(invitationStatus(OFFERED, OFFERED.expiresAtMs - 1)).toBe("pending");
    expect(invitationStatus(OFFERED, OFFERED.expiresAtMs)).toBe("expired");
  });

  it("stays accepted or revoked after its 7 days", () => {
    const late = NOW + 30 * DAY_MS;
    expect(invitationStatus({ ...OFFERED, acceptedAtMs: NOW }, late)).toBe("accepted");
    expect(invitationStatus({ ...OFFERED, revokedAtMs: NOW }, late)).toBe("revoked");
  });

  it("is shown without its token and without the token's hash", () => {
    expect(invitationBodyOf(OFFERED, NOW)).toEqual({
      id: OFFERED.id,
      merchantId: OFFERED.merchantId,
      email: "Guest@Example.com",
      role: "MEMBER",
      status: "pending",
      invitedBy: OFFERED.invitedBy,
      createdAt: "2027-01-15T08:00:00.000Z",
      expiresAt: "2027-01-22T08:00:00.000Z",
      acceptedAt: null,
      mailedAt: "2027-01-15T08:00:00.000Z",
    });
  });
});

describe("accepting an invitation", () => {
  it.each([
    ["is allowed to the user who has verified its address", {}, GUEST, undefined],
    [
      "is refused to a user with another address",
      {},
      { ...GUEST, emailKey: "other@example.com" },
      "INVITATION_EMAIL_MISMATCH",
    ],
    [
      "is refused to a user who has not verified the address",
      {},
      { ...GUEST, isEmailVerified: false },
      "INVITATION_EMAIL_MISMATCH",
    ],
    ["is refused at the end of the 7 days", { expiresAtMs: NOW }, GUEST, "INVITATION_EXPIRED"],
    ["is allowed until the last millisecond", { expiresAtMs: NOW + 1 }, GUEST, undefined],
    ["works once", { acceptedAtMs: NOW }, GUEST, "INVITATION_NOT_FOUND"],
    ["is refused after a revocation", { revokedAtMs: NOW }, GUEST, "INVITATION_NOT_FOUND"],
    ["is refused once the merchant is deleted", { isMerchantLive: false }, GUEST, "INVITATION_NOT_FOUND"],
    ["is refused once the inviter has left the team", { inviterRole: null }, GUEST, "INVITATION_NOT_FOUND"],
    [
      "is refused to a user who is already a member",
      { seatId: "mem_00000000000000000000000000" as const },
      GUEST,
      "ALREADY_MEMBER",
    ],
  ])("%s", (_, changes, user, code) => {
    expect(acceptRefusal({ ...OFFERED, ...changes }, user, NOW)?.code).toBe(code);
  });

  it("is refused to a user with a different address in the same way, whether the invitation is expired or open", () => {
    const stranger = { ...GUEST, emailKey: "other@example.com" };
    const over = { ...OFFERED, expiresAtMs: NOW };
    expect(acceptRefusal(over, stranger, NOW)).toEqual(acceptRefusal(OFFERED, stranger, NOW));
  });

  it("requires an inviter who outranks the role at that time, for all 12 pairs of inviter's role and offered role", () => {
    const open = ROLES.flatMap((inviterRole) =>
      (["ADMIN", "MEMBER", "VIEWER"] as const)
        .filter((role) => acceptRefusal({ ...OFFERED, inviterRole, role }, GUEST, NOW) === undefined)
        .map((role) => `${inviterRole} ${role}`),
    );
    expect(open).toEqual([
      "OWNER ADMIN",
      "OWNER MEMBER",
      "OWNER VIEWER",
      "ADMIN MEMBER",
      "ADMIN VIEWER",
      "MEMBER VIEWER",
    ]);
  });
});
