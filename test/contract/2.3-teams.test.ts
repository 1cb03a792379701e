import { Secret, TOTP } from "otpauth";
import { describe, expect, it } from "vitest";
import { service } from "./client.ts";
import { type Browser, codeSentTo, invitationTokenSentTo, mailsTo, signedIn } from "./people.ts";

const { baseUrl } = service;
const ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7";

const codeOf = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) }).generate();

/** Sets up an authenticator app; returns its secret. */
async function enrolTotp(user: Browser): Promise<string> {
  const begun = await user.post("/api/v1/me/totp");
  expect(begun.body).toMatchObject({ secret: expect.stringMatching(/^[A-Z2-7]{32}$/) });
  const confirmed = await user.post("/api/v1/me/totp/confirm", { code: codeOf(begun.body.secret) });
  expect(confirmed).toMatchObject({ status: 200 });
  expect(confirmed.body.backupCodes).toHaveLength(10);
  return begun.body.secret;
}

/** The path of a new merchant of `owner` in which `other` is a member with this role. */
async function teamOfTwo(owner: Browser, other: Browser, role: string): Promise<string> {
  const made = await owner.post("/api/v1/merchants", { name: "Two" });
  expect(made).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^mer_/), name: "Two", role: "OWNER" } });
  const merchant = `/api/v1/merchants/merchant/${made.body.id}`;
  const invited = await owner.post(`${merchant}/team/invitations`, { email: other.email.toUpperCase(), role });
  expect(invited).toMatchObject({ status: 201, body: { status: "pending", role } });
  const token = await invitationTokenSentTo(other.email);
  expect(JSON.stringify(invited.body)).not.toContain(token);
  const accepted = await other.post("/api/v1/team/invitations/accept", { token });
  expect(accepted).toMatchObject({ status: 200, body: { role, email: other.email } });
  return merchant;
}

const memberId = async (who: Browser, merchant: string, email: string): Promise<string> => {
  const { body } = await who.get(`${merchant}/team/members`);
  return body.data.find((each: { email: string }) => each.email === email).id;
};

describe("in a team, from the first sign-in to an invoice,", () => {
  it("members join, change roles, transfer ownership and enforce a second factor, and a key creates an invoice", async () => {
    const [anna, ben] = [await signedIn("anna"), await signedIn("ben")];
    const merchant = await teamOfTwo(anna, ben, "VIEWER");

    // A viewer can list wallets but not register one; an admin can.
    const wallet = { walletType: "DIRECT_WALLET", cryptocurrency: "USDT", network: "ETH", address: ADDRESS };
    expect(await ben.get(`${merchant}/wallets`)).toMatchObject({ status: 200, body: [] });
    expect(await ben.post(`${merchant}/wallets`, wallet)).toMatchObject({
      status: 403,
      body: { code: "PERMISSION_DENIED", permission: "wallet:create" },
    });
    const bensSeat = await memberId(anna, merchant, ben.email);
    const promoted = await anna.patch(`${merchant}/team/members/${bensSeat}`, { role: "ADMIN" });
    expect(promoted).toMatchObject({ status: 200, body: { id: bensSeat, role: "ADMIN" } });
    expect(await ben.post(`${merchant}/wallets`, wallet)).toMatchObject({ status: 201 });

    // Ownership is transferred completely.
    const moved = await anna.post(`${merchant}/team/members/${bensSeat}/transfer-ownership`);
    expect(moved).toMatchObject({ status: 200 });
    const roles = async (who: Browser) => {
      const { body } = await who.get(`${merchant}/team/members`);
      return Object.fromEntries(body.data.map((each: { email: string; role: string }) => [each.email, each.role]));
    };
    expect(await roles(ben)).toEqual({ [anna.email]: "ADMIN", [ben.email]: "OWNER" });
    const audit = await ben.get(`${merchant}/audit-events?action=team.role_changed`);
    expect(
      audit.body.data
        .slice(0, 2)
        .map((each: { after: { role: string } }) => each.after.role)
        .sort(),
    ).toEqual(["ADMIN", "OWNER"]);

    // The new owner makes a second factor a requirement, which they must meet themselves.
    expect(await ben.patch(`${merchant}/team/security`, { enforceTfa: true })).toMatchObject({
      status: 422,
      body: { code: "OWNER_LACKS_FACTOR", missing: ["tfa"] },
    });
    await enrolTotp(ben);
    expect(await ben.patch(`${merchant}/team/security`, { enforceTfa: true })).toMatchObject({
      status: 200,
      body: { enforceTfa: true, enforcePasskey: false },
    });
    expect(await anna.get(`${merchant}/invoices`)).toMatchObject({
      status: 403,
      body: {
        statusCode: 403,
        error: "SECURITY_REQUIREMENT_NOT_MET",
        code: "SECURITY_REQUIREMENT_NOT_MET",
        missing: ["tfa"],
      },
    });
    expect(await anna.get("/api/v1/merchants")).toMatchObject({ status: 200, body: { data: [{ role: "ADMIN" }] } });
    await enrolTotp(anna);
    expect(await anna.get(`${merchant}/invoices`)).toMatchObject({ status: 200 });

    // Creates a key, and an invoice with this key.
    const key = await anna.post(`${merchant}/api-keys`, {
      name: "Shop server",
      kind: "SECRET",
      permissions: ["INVOICE_CREATE", "INVOICE_VIEW"],
    });
    expect(key).toMatchObject({ status: 201, body: { secret: expect.stringMatching(/^sk_\w{38}$/) } });
    const invoice = await fetch(`${baseUrl}${merchant}/invoices`, {
      method: "POST",
      headers: { "x-api-key": key.body.secret, "content-type": "application/json" },
      body: JSON.stringify({ name: "Order 1", rawAmount: 49.9 }),
    });
    expect([invoice.status, await invoice.json()]).toMatchObject([
      201,
      { status: "AWAITING_PAYMENT", rawAmount: "49.900000", paymentMethods: [{ address: ADDRESS, status: "ACTIVE" }] },
    ]);

    // A user who signs in again must pass the second factor first.
    const signedInAgain = await anna.signIn();
    expect(signedInAgain).toMatchObject({ status: 200, body: { state: "pending_2fa" } });
    expect(await anna.get(`${merchant}/invoices`)).toMatchObject({
      status: 403,
      body: { code: "SECOND_FACTOR_REQUIRED" },
    });
  });

  it("keys created by a member continue to work after the member leaves; the former member loses access, and the owner cannot leave", async () => {
    const [owner, admin] = [await signedIn("owner"), await signedIn("admin")];
    const merchant = await teamOfTwo(owner, admin, "ADMIN");
    const key = await admin.post(`${merchant}/api-keys`, {
      name: "k",
      kind: "SECRET",
      permissions: ["INVOICE_CREATE"],
    });
    expect(await admin.post(`${merchant}/team/leave`)).toMatchObject({ status: 204 });
    expect(await admin.get(merchant)).toMatchObject({ status: 404, body: { code: "MERCHANT_NOT_FOUND" } });
    const invoice = await fetch(`${baseUrl}${merchant}/invoices`, {
      method: "POST",
      headers: { "x-api-key": key.body.secret, "content-type": "application/json" },
      body: JSON.stringify({ name: "Order 2", rawAmount: 1 }),
    });
    expect(invoice.status).toBe(201);
    expect(await owner.post(`${merchant}/team/leave`)).toMatchObject({
      status: 403,
      body: { code: "OWNER_CANNOT_LEAVE" },
    });
  });
});

describe("an invitation", () => {
  it("can be accepted once, by its address only, and cannot grant OWNER or the inviter's own rank", async () => {
    const [owner, admin, third] = [await signedIn("o"), await signedIn("a"), await signedIn("t")];
    const merchant = await teamOfTwo(owner, admin, "ADMIN");
    const invite = (who: Browser, role: string) =>
      who.post(`${merchant}/team/invitations`, { email: third.email, role });
    expect(await invite(owner, "OWNER")).toMatchObject({ status: 403, body: { code: "INSUFFICIENT_RANK" } });
    expect(await invite(admin, "ADMIN")).toMatchObject({ status: 403, body: { code: "INSUFFICIENT_RANK" } });
    const invited = await invite(admin, "MEMBER");
    expect(invited.status).toBe(201);
    const token = await invitationTokenSentTo(third.email);

    const stranger = await signedIn("s");
    expect(await stranger.post("/api/v1/team/invitations/accept", { token })).toMatchObject({
      status: 403,
      body: { code: "INVITATION_EMAIL_MISMATCH" },
    });
    const byId = `/api/v1/team/invitations/${invited.body.id}/accept-by-id`;
    expect(await stranger.post(byId)).toMatchObject({ status: 403, body: { code: "INVITATION_EMAIL_MISMATCH" } });
    expect(await third.get("/api/v1/team/invitations")).toMatchObject({ body: { data: [{ id: invited.body.id }] } });
    expect(await third.post(byId)).toMatchObject({ status: 200, body: { role: "MEMBER" } });
    expect(await third.post("/api/v1/team/invitations/accept", { token })).toMatchObject({
      status: 404,
      body: { code: "INVITATION_NOT_FOUND" },
    });
  });

  it("gets a new token when it is resent, and stops working when it is revoked", async () => {
    const [owner, guest] = [await signedIn("o"), await signedIn("g")];
    const made = await owner.post("/api/v1/merchants", { name: "Shop" });
    const invitations = `/api/v1/merchants/merchant/${made.body.id}/team/invitations`;
    const invited = await owner.post(invitations, { email: guest.email, role: "VIEWER" });
    const first = await invitationTokenSentTo(guest.email);
    expect(await owner.post(`${invitations}/${invited.body.id}/resend`)).toMatchObject({ status: 200 });
    const second = await invitationTokenSentTo(guest.email);
    expect(second).not.toBe(first);
    const accept = (token: string) => guest.post("/api/v1/team/invitations/accept", { token });
    expect(await accept(first)).toMatchObject({ status: 404 });
    expect(await owner.delete(`${invitations}/${invited.body.id}`)).toMatchObject({ status: 204 });
    expect(await accept(second)).toMatchObject({ status: 404, body: { code: "INVITATION_NOT_FOUND" } });
    expect(await guest.get(`/api/v1/merchants/merchant/${made.body.id}`)).toMatchObject({ status: 404 });
  });
});

describe("signing in", () => {
  it("returns the same response for a known and an unknown address", async () => {
    const known = await signedIn("known");
    const ask = async (email: string) => {
      const response = await fetch(`${baseUrl}/api/v1/auth/email/start`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email }),
      });
      const headers = [...response.headers.keys()].filter((name) => name !== "x-request-id").sort();
      return [response.status, await response.text(), headers];
    };
    const stranger = `nobody-${crypto.randomUUID()}@example.com`;
    expect(await ask(known.email)).toEqual(await ask(stranger));
    expect(await mailsTo(stranger)).toHaveLength(1);
  });

  it("accepts a code once, and only in the browser that asked for it", async () => {
    const user = await signedIn("once");
    await user.post("/api/v1/auth/sign-out");
    expect(await user.get("/api/v1/me")).toMatchObject({ status: 401 });
    await user.post("/api/v1/auth/email/start", { email: user.email });
    const code = await codeSentTo(user.email);
    const elsewhere = await fetch(`${baseUrl}/api/v1/auth/email/verify`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: user.email, code }),
    });
    expect(elsewhere.status).toBe(401);
    const verify = () => user.post("/api/v1/auth/email/verify", { email: user.email, code });
    expect(await verify()).toMatchObject({ status: 200, body: { state: "active" } });
    expect(await verify()).toMatchObject({ status: 401, body: { code: "INVALID_CODE" } });
    expect(await user.get("/api/v1/me")).toMatchObject({
      status: 200,
      body: { email: user.email, emailVerified: true },
    });
  });
});
