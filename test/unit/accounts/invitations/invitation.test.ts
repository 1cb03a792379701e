import { describe, expect, it } from "vitest";
import {
  acceptRefusal,
  INVITATION_LIFETIME_MS,
  invitationBodyOf,
  invitationStatus,
  type OfferedInvitation,
} from "../../../../src/accounts/invitations/invitation.ts";
import { ROLES } from "../../../../src/accounts/teams/roles.ts";
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

  it("stays accepted or revoked whatever the time", () => {
    const late = NOW + 30 * DAY_MS;
    expect(invitationStatus({ ...OFFERED, acceptedAtMs: NOW }, late)).toBe("accepted");
    expect(invitationStatus({ ...OFFERED, revokedAtMs: NOW }, late)).toBe("revoked");
  });

  it("never shows its token, nor what is stored of it", () => {
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

describe("accepting", () => {
  it.each([
    ["is open to the holder of the verified address", {}, GUEST, undefined],
    ["is closed to another address", {}, { ...GUEST, emailKey: "other@example.com" }, "INVITATION_EMAIL_MISMATCH"],
    [
      "is closed to an address that is not verified",
      {},
      { ...GUEST, isEmailVerified: false },
      "INVITATION_EMAIL_MISMATCH",
    ],
    ["is over at the end of the 7 days", { expiresAtMs: NOW }, GUEST, "INVITATION_EXPIRED"],
    ["is open to its last millisecond", { expiresAtMs: NOW + 1 }, GUEST, undefined],
    ["works once", { acceptedAtMs: NOW }, GUEST, "INVITATION_NOT_FOUND"],
    ["ends with a revocation", { revokedAtMs: NOW }, GUEST, "INVITATION_NOT_FOUND"],
    ["ends with the merchant", { isMerchantLive: false }, GUEST, "INVITATION_NOT_FOUND"],
    ["ends when the inviter is gone", { inviterRole: null }, GUEST, "INVITATION_NOT_FOUND"],
    ["is not for members", { seatId: "mem_00000000000000000000000000" as const }, GUEST, "ALREADY_MEMBER"],
  ])("%s", (_, changes, user, code) => {
    expect(acceptRefusal({ ...OFFERED, ...changes }, user, NOW)?.code).toBe(code);
  });

  it("tells a stranger of an invitation that is over no more than of one that is open", () => {
    const stranger = { ...GUEST, emailKey: "other@example.com" };
    const over = { ...OFFERED, expiresAtMs: NOW };
    expect(acceptRefusal(over, stranger, NOW)).toEqual(acceptRefusal(OFFERED, stranger, NOW));
  });

  it("needs an inviter who outranks the role now, over all 12 pairs", () => {
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
