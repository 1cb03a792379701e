// A request that weakens a protection (security.md 1) must require a recent factor (for a key, a separate permission), be described in the audit log,
// and be emailed to the team. Every request field is on one of two lists: fields that can weaken a protection, and fields that cannot.
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { ALWAYS_GUARDED, WEAKENINGS } from "../../../src/accounts/protections/weakening.ts";
import { keyPermissionName, SECRET_KEY_PERMISSIONS, WEAKEN } from "../../../src/accounts/roles/permissions.ts";
import { SPECS } from "../../../src/app/app.ts";
import { makeId, newUlid } from "../../../src/lib/ids.ts";
import { apiKeys } from "../../../src/platform/db/schema/api-keys.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { passkeys, users } from "../../../src/platform/db/schema/users.ts";
import { expectRefusal, seedKey, send } from "../../support/access.ts";
import { mailsTo } from "../../support/browser.ts";
import { seedPolicy, seedSession, seedUser } from "../../support/people.ts";
import { membersOf, NO_PROTECTION } from "../../support/protections.ts";
import { callerWith, freshTeam, type Teammate, type TestTeam } from "../../support/teams.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { document, operationOf, useDocument } from "../app/reference-harness.ts";

useDocument();

const STALE = { factorAtMs: Date.now() - 3_600_000 };
const HELD = SECRET_KEY_PERMISSIONS.map(keyPermissionName);
const WITHOUT = HELD.filter((name) => name !== keyPermissionName(WEAKEN));
const weakened = (operation: string): readonly string[] => [
  ...Object.keys((WEAKENINGS as Readonly<Record<string, object>>)[operation] ?? {}),
  ...((ALWAYS_GUARDED as Readonly<Record<string, readonly string[]>>)[operation] ?? []),
];

describe("every request field", () => {
  test("is on exactly one of two lists: fields that can weaken a protection, and fields that cannot", () => {
    const operations = SPECS.filter(({ method }) => method !== "GET").map((spec) => {
      const content = Object.values(operationOf(spec).requestBody?.content ?? {});
      return [spec.operationId, [...new Set(content.flatMap(({ schema }) => membersOf(document, schema)))]] as const;
    });
    const withBody = operations.filter(([, members]) => members.length > 0);
    expect(withBody.length).toBeGreaterThan(40);
    const said = Object.fromEntries(
      withBody.map(([operation]) => [operation, [...weakened(operation), ...(NO_PROTECTION[operation] ?? [])].sort()]),
    );
    expect(said).toEqual(Object.fromEntries(withBody.map(([operation, members]) => [operation, [...members].sort()])));
    const known = [...Object.keys(NO_PROTECTION), ...Object.keys(WEAKENINGS), ...Object.keys(ALWAYS_GUARDED)];
    expect([...new Set(known)].sort()).toEqual(withBody.map(([operation]) => operation).sort());
  });

  test("that always needs a factor belongs to a route that requires one, except the wallet change delay", () => {
    const guarded = SPECS.filter(
      ({ operationId }) => operationId in ALWAYS_GUARDED && operationId !== "updateSettings",
    );
    expect(guarded.map(({ operationId, needsStepUp }) => [operationId, needsStepUp]).sort()).toEqual([
      ["addOperator", true],
      ["updateWallet", true],
    ]);
  });
});

interface Case {
  readonly from: unknown;
  readonly stronger: unknown;
  readonly weaker: unknown;
}

const OFF: Case = { from: true, stronger: true, weaker: false };
const PERCENT: Case = { from: 2, stronger: 1, weaker: 10 };
const SETTINGS: Readonly<Record<keyof typeof WEAKENINGS.updateSettings, readonly Case[]>> = {
  underpaidTolerancePercent: [PERCENT, { from: 0, stronger: 0, weaker: 0.01 }],
  underpaidToleranceMax: [{ from: "5", stronger: "4.999999", weaker: "1000000" }],
  overpaidTolerancePercent: [PERCENT],
  latePaymentPolicy: [{ from: "REVIEW", stronger: "REVIEW", weaker: "ACCEPT" }],
  lateGraceSeconds: [
    { from: 600, stronger: 599, weaker: 601 },
    { from: 0, stronger: 0, weaker: 1 },
  ],
  quorumAboveAmount: [
    { from: "1000", stronger: "10", weaker: null },
    { from: "1000", stronger: "999", weaker: "1000.000001" },
  ],
  mailReceiptsToMerchant: [OFF],
  frameAncestors: [
    { from: ["https://a.example"], stronger: [], weaker: ["https://a.example", "https://b.example"] },
    { from: ["https://a.example"], stronger: [], weaker: ["https://b.example"] },
  ],
};
const ADDRESSES: readonly Case[] = [
  { from: ["192.0.2.0/24"], stronger: ["192.0.2.7", "192.0.2.64/26"], weaker: null },
  { from: ["192.0.2.0/24"], stronger: ["192.0.2.0/25"], weaker: ["192.0.2.0/23"] },
  { from: ["192.0.2.7", "2001:db8::/32"], stronger: ["2001:db8:1::/48"], weaker: ["192.0.2.7", "192.0.2.8"] },
  { from: ["192.0.2.0/24"], stronger: ["192.0.2.1"], weaker: ["::/0"] },
];

const spelled = (value: unknown) => (Array.isArray(value) ? value.join(", ") : String(value ?? "no limit"));

async function shop(): Promise<{
  team: TestTeam;
  owner: Teammate;
  admin: Teammate;
  stale: ReturnType<typeof callerWith>;
}> {
  const { team, owner } = await freshTeam();
  const admin = await team.join("ADMIN");
  return { team, owner, admin, stale: callerWith(await seedSession(admin.userId, STALE)) };
}

/** Checks that the change was emailed to all readers and is in the audit log, in the same words. */
async function expectReported(team: TestTeam, readers: readonly Teammate[], weaker: unknown): Promise<void> {
  const entry = (await team.audit()).at(-1);
  expect(entry?.after.weakens).toHaveLength(1);
  const [words] = entry?.after.weakens ?? [];
  expect(words).toMatch(/^[A-Z][a-z ]+: .+ before, .+ now$/);
  if (typeof weaker !== "string") expect(words).toContain(`${spelled(weaker)} now`);
  for (const reader of readers) {
    const [mail] = await mailsTo(reader.email);
    expect(mail?.subject).toMatch(/^A protection( of .* was| was) weakened$/);
    expect(mail?.text).toContain(words);
  }
}

describe("weakening a setting", () => {
  const cases = Object.entries(SETTINGS).flatMap(([name, all]) => all.map((each) => [name, each] as const));

  test.each(cases)("(%s, as in %j) needs a recent factor; strengthening it needs none", async (name, each) => {
    const { team, owner, admin, stale } = await shop();
    const path = `${team.merchant}/settings`;
    expect((await owner.as.patch(path, { [name]: each.from })).status).toBe(200);
    const mailed = (await mailsTo(owner.email)).length;
    for (const value of [each.from, each.stronger, each.from]) {
      const headers = value === each.from ? owner.as : stale;
      expect((await headers.patch(path, { [name]: value })).status).toBe(200);
    }
    const before = await team.audit();
    const many = (await mailsTo(owner.email)).length;
    const refused = await stale.patch(path, { [name]: each.weaker, rateLockSeconds: 77 });
    expect([refused.status, refused.body.code]).toEqual([403, "STEP_UP_REQUIRED"]);
    expect([await team.audit(), (await mailsTo(owner.email)).length]).toEqual([before, many]);
    expect(many).toBeGreaterThanOrEqual(mailed);
    expect((await admin.as.patch(path, { [name]: each.weaker })).status).toBe(200);
    expect((await mailsTo(owner.email)).length).toBe(many + 1);
    await expectReported(team, [owner, admin], each.weaker);
  });

  test.each(cases)("(%s, as in %j) requires a separate permission when a key does it", async (name, each) => {
    const { team, owner, admin } = await shop();
    const path = `${team.merchant}/settings`;
    await owner.as.patch(path, { [name]: each.from });
    const [plain, able] = await Promise.all([
      seedKey(team.merchantId, { permissions: WITHOUT }),
      seedKey(team.merchantId, { permissions: ["MERCHANT_UPDATE", "PROTECTION_WEAKEN"] }),
    ]);
    const patch = (key: string, body: object) => send(path, { method: "PATCH", key, body });
    expect((await patch(plain, { [name]: each.stronger, rateLockSeconds: 61 })).status).toBe(200);
    await owner.as.patch(path, { [name]: each.from });
    const refused = expectRefusal(await patch(plain, { [name]: each.weaker }), 403, "PERMISSION_DENIED");
    expect(refused.permission).toBe("PROTECTION_WEAKEN");
    expect((await patch(able, { [name]: each.weaker })).status).toBe(200);
    await expectReported(team, [owner, admin], each.weaker);
    expect((await mailsTo(owner.email))[0]?.text).toContain("An API key weakened");
  });
});

describe("opening an API key to more addresses", () => {
  test.each(ADDRESSES)(
    "(as in %j) needs a recent factor; restricting it to fewer addresses needs none",
    async (each) => {
      const { team, owner, admin, stale } = await shop();
      const made = await owner.as.post(`${team.merchant}/api-keys`, {
        name: "Server",
        kind: "SECRET",
        permissions: ["INVOICE_VIEW"],
        allowedIps: each.from,
      });
      const path = `${team.merchant}/api-keys/${made.body.id}`;
      expect((await stale.patch(path, { name: "Shop" })).status).toBe(200);
      expect((await stale.patch(path, { allowedIps: each.stronger })).status).toBe(200);
      await testDb
        .update(apiKeys)
        .set({ allowedIps: JSON.stringify(each.from) as never })
        .where(eq(apiKeys.id, made.body.id));
      expect(await mailsTo(owner.email)).toEqual([]);
      const refused = await stale.patch(path, { allowedIps: each.weaker });
      expect([refused.status, refused.body.code]).toEqual([403, "STEP_UP_REQUIRED"]);
      expect((await admin.as.patch(path, { allowedIps: each.weaker })).status).toBe(200);
      await expectReported(team, [owner, admin], each.weaker);
      expect((await mailsTo(admin.email))[0]?.text).toContain(`the API key ${made.body.display} of Test shop`);
    },
  );
});

describe("switching off a team's requirement", () => {
  test.each(Object.keys(WEAKENINGS.updateTeamSecurity))("%s is emailed to every OWNER and ADMIN", async (name) => {
    const { team, owner, admin } = await shop();
    // The owner has every factor, so that no requirement locks them out.
    await testDb.update(users).set({ totpEnabledAtMs: 1 }).where(eq(users.id, owner.userId));
    const passkey = { id: makeId("pky", newUlid(Date.now(), crypto.getRandomValues(new Uint8Array(16)))) };
    await testDb.insert(passkeys).values({
      ...passkey,
      userId: owner.userId,
      credentialId: passkey.id,
      publicKey: "",
      counter: 0,
      transports: "[]",
      name: "Laptop",
      isBackedUp: false,
      createdAtMs: 1,
    });
    await seedPolicy(team.merchantId, { [name]: true });
    const as = callerWith(await seedSession(owner.userId, { factor: "TOTP" }));
    expect((await as.patch(`${team.path}/security`, { [name]: true })).status).toBe(200);
    expect(await mailsTo(owner.email)).toEqual([]);
    expect((await as.patch(`${team.path}/security`, { [name]: false })).status).toBe(200);
    await expectReported(team, [owner, admin], false);
  });
});

describe("a new operator", () => {
  test("is announced to every other operator by email, and described in the audit log", async () => {
    const [one, other, next] = await Promise.all([
      seedUser({ operatorSinceMs: 1 }),
      seedUser({ operatorSinceMs: 1 }),
      seedUser(),
    ]);
    const ask = { method: "POST", body: { email: next.email } };
    const stale = await seedSession(one.userId, STALE);
    expectRefusal(await send("/api/v1/operator/operators", { ...ask, headers: stale }), 403, "STEP_UP_REQUIRED");
    for (const _ of [1, 2])
      expect((await send("/api/v1/operator/operators", { ...ask, headers: one.headers })).status).toBe(200);
    const words = `Operators of the deployment: ${next.email} is one now`;
    for (const reader of [one, other]) {
      const mails = await mailsTo(reader.email);
      expect(mails.filter(({ text }) => text.includes(words))).toHaveLength(1);
    }
    expect(await mailsTo(next.email)).toEqual([]);
    const entries = await testDb.select().from(auditEvents).where(eq(auditEvents.target, next.userId));
    expect(JSON.parse(entries[0]?.after ?? "{}")).toEqual({ email: next.email, weakens: [words] });
  });
});
