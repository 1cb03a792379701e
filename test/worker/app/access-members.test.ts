import { beforeAll, describe, expect, it } from "vitest";
import { ROLES, type Role } from "../../../src/accounts/roles/roles.ts";
import type { MerchantId } from "../../../src/lib/ids.ts";
import { type Ask, expectHeaders, expectRefusal, seedKey, seedMerchant } from "../../support/access.ts";
import { attempt, specNamed, UNKNOWN_ULID } from "../../support/access-attempt.ts";
import { alternativesIn, KEY_OR_MEMBER, MEMBER_ONLY, ROLE_HOLDS } from "../../support/access-table.ts";
import { seedMember, seedPolicy, seedSession, seedUser } from "../../support/people.ts";

const NOWHERE = `mer_${UNKNOWN_ULID}`;
const LONG_AGO_MS = 40 * 86_400_000;

let merchantId: MerchantId;
let strictId: MerchantId;
let elsewhereId: MerchantId;

beforeAll(async () => {
  [merchantId, strictId, elsewhereId] = [await seedMerchant(), await seedMerchant(), await seedMerchant()];
  await seedPolicy(strictId, { enforceTfa: true, enforcePasskey: true, enforceGithubLogin: true });
});

/** Creates a new user with this role for each call, because some routes remove the member or the session. */
async function memberOf(id: MerchantId, role: Role) {
  const shop = role === "OWNER" && id === merchantId ? await seedMerchant() : id;
  const user = await seedUser();
  await seedMember(shop, user.userId, role);
  return { ...user, merchantId: shop };
}

describe.each(Object.entries({ ...KEY_OR_MEMBER, ...MEMBER_ONLY }))("%s", (name, { permission, demands }) => {
  const isChange = !name.startsWith("GET ");
  const refuse = async (ask: Ask, status: number, code: string, path: string = merchantId) => {
    const answers = await attempt(specNamed(name), { merchantId: path }, ask);
    const refusals = answers.map((answer) => expectRefusal(answer, status, code));
    expect(new Set(refusals.map((each) => JSON.stringify(each))).size).toBe(1);
    return refusals[0];
  };

  it.each(ROLES)("is open to a member with the role %s only if that role has the route's permission", async (role) => {
    const { headers, merchantId: shop } = await memberOf(merchantId, role);
    if (!alternativesIn(permission).some(ROLE_HOLDS[role])) {
      const refusal = await refuse({ headers }, 403, "PERMISSION_DENIED", shop);
      expect(refusal).toMatchObject({ permission: permission.toLowerCase().replace(/_(?=[a-z]+$)/, ":") });
      return;
    }
    if (demands.includes("owner") && role !== "OWNER") {
      await refuse({ headers }, 403, "OWNER_REQUIRED", shop);
      return;
    }
    for (const answer of await attempt(specNamed(name), { merchantId: shop }, { headers })) {
      expectHeaders(answer);
      // An owner may call the route for leaving the team, but it always refuses them.
      if (answer.json?.code === "OWNER_CANNOT_LEAVE") continue;
      expect([200, 201, 204, 400, 404, 413, 415, 422]).toContain(answer.status);
    }
  });

  it("answers with the same 401 for an unknown, expired, idle or revoked session", async () => {
    const { userId } = await memberOf(merchantId, "ADMIN");
    const nowMs = Date.now();
    const dead = [
      { cookie: "session=unknown", origin: "http://localhost:8787" },
      await seedSession(userId, { revokedAtMs: nowMs }),
      await seedSession(userId, { createdAtMs: nowMs - LONG_AGO_MS }),
      await seedSession(userId, { lastSeenAtMs: nowMs - LONG_AGO_MS }),
    ];
    const refusals = await Promise.all(dead.map((headers) => refuse({ headers }, 401, "UNAUTHORIZED")));
    expect(new Set(refusals.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(await refuse({}, 401, "UNAUTHORIZED")).toEqual(refusals[0]);
  });

  it("is closed to a session that has not given its second factor", async () => {
    const { userId } = await seedUser({ totpEnabledAtMs: Date.now() });
    await seedMember(merchantId, userId, "ADMIN");
    const headers = await seedSession(userId, { state: "PENDING_2FA" });
    expect(await refuse({ headers }, 403, "SECOND_FACTOR_REQUIRED")).toMatchObject({
      factors: ["totp", "backup_code"],
    });
  });

  it("answers a member of another merchant with the same 404 as for an unknown merchant", async () => {
    const { headers } = await memberOf(elsewhereId, "ADMIN");
    const refusal = await refuse({ headers }, 404, "MERCHANT_NOT_FOUND");
    for (const path of [NOWHERE, "mer_1", "x", "%00"])
      expect(await refuse({ headers }, 404, "MERCHANT_NOT_FOUND", path)).toEqual(refusal);
  });

  it("is closed to a member without the factors the team requires, and names them; API keys are exempt", async () => {
    const { headers } = await memberOf(strictId, "ADMIN");
    const refusal = await refuse({ headers }, 403, "SECURITY_REQUIREMENT_NOT_MET", strictId);
    // GitHub is not configured here, so it cannot be required.
    expect(refusal).toMatchObject({ error: "SECURITY_REQUIREMENT_NOT_MET", missing: ["tfa", "passkey"] });
    const key = await seedKey(strictId);
    const answers = await attempt(specNamed(name), { merchantId: strictId }, { key });
    expect(answers.filter(({ json }) => json?.code === "SECURITY_REQUIREMENT_NOT_MET")).toEqual([]);
  });

  if (isChange) {
    it("is closed to a session from another origin, and to one without an Origin header", async () => {
      const { headers } = await memberOf(merchantId, "ADMIN");
      const { cookie = "" } = headers;
      await refuse({ headers: { cookie } }, 403, "ORIGIN_NOT_ALLOWED");
      await refuse({ headers: { cookie, origin: "https://evil.example" } }, 403, "ORIGIN_NOT_ALLOWED");
      await refuse({ headers: { cookie, origin: "null" } }, 403, "ORIGIN_NOT_ALLOWED");
    });
  }

  if (demands.includes("step-up")) {
    it("requires a factor from the last 5 minutes, of the strongest kind the user has", async () => {
      const role = demands.includes("owner") ? "OWNER" : "ADMIN";
      const { userId, merchantId: shop } = await memberOf(merchantId, role);
      const old = await seedSession(userId, { factorAtMs: Date.now() - 300_001 });
      expect(await refuse({ headers: old }, 403, "STEP_UP_REQUIRED", shop)).toMatchObject({ factors: ["email_code"] });
      const strong = await seedUser({ totpEnabledAtMs: Date.now() });
      const other = demands.includes("owner") ? await seedMerchant() : shop;
      await seedMember(other, strong.userId, role);
      const refusal = await refuse({ headers: strong.headers }, 403, "STEP_UP_REQUIRED", other);
      expect(refusal).toMatchObject({ factors: ["totp", "backup_code"] });
    });
  }

  it("decides by the key when a session is sent along with a key", async () => {
    const { headers } = await memberOf(merchantId, "ADMIN");
    await refuse({ key: "letmein", headers }, 401, "UNAUTHORIZED");
    const foreign = await seedKey(elsewhereId);
    await refuse({ key: foreign, headers }, 403, "MERCHANT_MISMATCH");
  });
});
