import { expect, it } from "vitest";
import { invitationMail } from "../../../src/invitations/invitation-mail.ts";

const OF = { email: "ben@example.com", role: "MEMBER", merchantName: "Anna's shop", inviter: "Anna" } as const;

it("an invitation says who invites, to what and as what, and carries the token in the fragment of its link", () => {
  const mail = invitationMail(OF, "t0k_en-", "https://pay.example");
  expect(mail).toMatchObject({ to: "ben@example.com", subject: "Invitation to the team of Anna's shop" });
  expect(mail.text).toContain("Anna invites you to the team of Anna's shop as MEMBER.");
  expect(mail.text).toContain("https://pay.example/invitations#token=t0k_en-\n");
  expect(mail.subject + mail.text.replace(/\S*#token=\S+/g, "")).not.toContain("t0k_en-");
});

it("names in it become neither headers nor tags nor reversed lines", () => {
  const merchantName = "Shop\r\nBcc: all@example.com\u202e<b>";
  const mail = invitationMail({ ...OF, merchantName, inviter: "<script>\u0007" }, "t", "https://pay.example");
  expect(mail.subject).toBe("Invitation to the team of Shop Bcc: all@example.com<b>");
  for (const each of ["<script>", "<b>", "\u202e", "\u0007"]) expect(mail.html.includes(each)).toBe(false);
});
