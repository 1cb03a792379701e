import { expect, it } from "vitest";
import { invitationMail } from "../../../../src/accounts/invitations/invitation-mail.ts";

const ANNA = { inviterName: "Anna", inviterEmail: "anna@example.com" };
const OF = { ...ANNA, email: "ben@example.com", role: "MEMBER", merchantName: "Anna's shop" } as const;

it("an invitation contains the names of the inviter and the merchant, and the role, and has its token only in the fragment of its link", () => {
  const mail = invitationMail(OF, "t0k_en-", "https://pay.example");
  expect(mail).toMatchObject({ to: "ben@example.com", subject: "Invitation to the team of Anna's shop" });
  expect(mail.text).toContain("Anna invites you to the team of Anna's shop as MEMBER.");
  expect(mail.text).toContain("https://pay.example/invitations#token=t0k_en-\n");
  expect(mail.subject + mail.text.replace(/\S*#token=\S+/g, "")).not.toContain("t0k_en-");
});

it("names in an invitation cannot add mail headers, HTML tags or reversed text", () => {
  const merchantName = "Shop\r\nBcc: all\u202e<b>";
  const mail = invitationMail({ ...OF, merchantName, inviterName: "<script>\u0007" }, "t", "https://pay.example");
  expect(mail.subject).toBe("Invitation to the team of Shop Bcc: all<b>");
  for (const each of ["<script>", "<b>", "\u202e", "\u0007"]) expect(mail.html.includes(each)).toBe(false);
});

it("a merchant's name with an address stays out of the subject, and only our own link in the email is clickable", () => {
  const merchantName = "Win now https://evil.example/x or write win@evil.example";
  const mail = invitationMail({ ...OF, merchantName, inviterName: "www.evil.example" }, "t", "https://pay.example");
  expect(mail.subject).toBe("Invitation to a team");
  expect(mail.text).toContain(
    "www[.]evil[.]example invites you to the team of Win now https[:]//evil[.]example/x or write",
  );
  for (const each of [mail.text, mail.html]) expect(each).not.toMatch(/evil\.example|win@/);
});

it("an inviter without a name is shown by their email address", () => {
  const mail = invitationMail({ ...OF, inviterName: null }, "t", "https://pay.example");
  expect(mail.text).toContain("anna@example.com invites you");
});
