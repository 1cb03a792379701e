// Emailed codes, in cases that HTTP requests cannot reliably cause; the tests call the functions behind the routes.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { type SendDependencies, sendCode } from "../../../src/accounts/email-codes/send-code.ts";
import { useCode } from "../../../src/accounts/email-codes/use-code.ts";
import { verifySignIn } from "../../../src/accounts/sign-in/verify-sign-in.ts";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { makeId, newOperationId, newUlid } from "../../../src/lib/ids.ts";
import { parseKeyring } from "../../../src/lib/keyring.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { batchConflict } from "../../../src/platform/db/conflict.ts";
import { emailCodes, identities, passkeys, sessions, users } from "../../../src/platform/db/schema/users.ts";
import type { Mail } from "../../../src/platform/mail/mail.ts";
import { freshEmail } from "../../support/browser.ts";
import { seedUser } from "../../support/people.ts";

const db = openDb(env.DB);

function dependenciesWith(changes: Partial<SendDependencies> = {}): SendDependencies & { readonly mails: Mail[] } {
  const pepper = parseKeyring("CODE_PEPPER", env.CODE_PEPPER);
  if (!pepper.ok) throw new Error(pepper.error);
  const mails: Mail[] = [];
  const mailer = { post: async (mail: Mail) => void mails.push(mail) };
  const common = { db, nowMs: Date.now(), sleep, newOperationId, isSignUpOpen: true, isCounted: () => false };
  return { ...common, pepper: pepper.value, mailer, mails, ...changes };
}

const codeIn = (mail: Mail | undefined) => String(/^\d{8}$/m.exec(mail?.text ?? "")?.[0]);
const place = () => ({ purpose: "STEP_UP", email: freshEmail(), boundTo: `ses_${crypto.randomUUID()}` }) as const;
const INVALID = { ok: false, error: { code: "INVALID_CODE" } };

describe("a code emailed for a session", () => {
  test("works only for the purpose, the address and the session that it was made for", async () => {
    const deps = dependenciesWith();
    const of = place();
    await sendCode(deps, { ...of, ip: null });
    const code = codeIn(deps.mails[0]);
    for (const wrong of [{ purpose: "SECOND_FACTOR" as const }, { email: freshEmail() }, { boundTo: "ses_other" }])
      expect(await useCode(deps, { ...of, code, ...wrong })).toEqual(INVALID);
    expect(await useCode(deps, { ...of, code })).toMatchObject({ ok: true, value: { email: of.email } });
  });

  test("is replaced by the next one, which starts with all of its tries left", async () => {
    const deps = dependenciesWith();
    const of = place();
    await sendCode(deps, { ...of, ip: null });
    for (let i = 0; i < 3; i++) await useCode(deps, { ...of, code: "00000000" });
    await sendCode(deps, { ...of, ip: null });
    const [first, second] = deps.mails.map(codeIn);
    for (let i = 0; i < 4; i++) expect(await useCode(deps, { ...of, code: String(first) })).toEqual(INVALID);
    expect(await useCode(deps, { ...of, code: String(second) })).toMatchObject({ ok: true });
    const rows = await db.select().from(emailCodes).where(eq(emailCodes.boundTo, of.boundTo));
    expect(rows.map(({ tries }) => tries).toSorted()).toEqual([3, 5]);
  });

  test("can be used up by one batch only: a second batch with the same code aborts", async () => {
    const deps = dependenciesWith();
    const of = place();
    await sendCode(deps, { ...of, ip: null });
    const code = codeIn(deps.mails[0]);
    const [one, other] = await Promise.all([useCode(deps, { ...of, code }), useCode(deps, { ...of, code })]);
    if (!one.ok || !other.ok) throw new Error("both are right while it is unused");
    await db.batch([...one.value.statements]);
    const second = db.batch([...other.value.statements]).then(
      () => "committed",
      (error: unknown) => batchConflict(error),
    );
    expect(await second).toEqual({ kind: "assertion" });
    expect(await useCode(deps, { ...of, code })).toEqual(INVALID);
  });

  test("created with an older pepper works only while that pepper is in the keyring", async () => {
    const of = place();
    const older = dependenciesWith();
    await sendCode(older, { ...of, ip: null });
    const code = codeIn(older.mails[0]);
    const newKey = { id: "new", secret: new Uint8Array(32).fill(7) } as const;
    expect(await useCode(dependenciesWith({ pepper: [newKey] }), { ...of, code })).toEqual(INVALID);
    expect(await useCode(dependenciesWith({ pepper: [newKey, ...older.pepper] }), { ...of, code })).toMatchObject({
      ok: true,
    });
  });
});

describe("a sign-in by email code", () => {
  const attempt = (email: string, code: string, nonce: string) => ({
    email,
    code,
    nonce,
    oldToken: undefined,
    ip: null,
    userAgent: null,
    requestId: makeId("req", newUlid(Date.now(), crypto.getRandomValues(new Uint8Array(16)))),
  });

  test("requires a second factor that is switched on between its read and its write", async () => {
    const { email, userId } = await seedUser();
    const nonce = crypto.randomUUID();
    const deps = dependenciesWith();
    await sendCode(deps, { purpose: "SIGN_IN", email, boundTo: sha256Hex(nonce), ip: null });
    let decided = 0;
    const late = dependenciesWith({
      newOperationId: () => {
        // D1 receives this update before the sign-in's batch, and so executes it first.
        if (decided++ === 0)
          db.update(users).set({ totpEnabledAtMs: 5 }).where(eq(users.id, userId)).execute().catch(expect.unreachable);
        return newOperationId();
      },
    });
    const signedIn = await verifySignIn(late, attempt(email, codeIn(deps.mails[0]), nonce));
    expect([signedIn, decided]).toMatchObject([{ ok: true, value: { state: "PENDING_2FA" } }, 2]);
  });

  test("links no identity when a passkey is added between its read and its write", async () => {
    const { email, userId } = await seedUser();
    const nonce = crypto.randomUUID();
    const identity = { provider: "google", subject: crypto.randomUUID(), email } as const;
    const deps = dependenciesWith();
    await sendCode(deps, { purpose: "SIGN_IN", email, boundTo: sha256Hex(nonce), ip: null, identity });
    const passkey = {
      id: makeId("pky", newOperationId()),
      userId,
      credentialId: nonce,
      publicKey: "",
      transports: "[]",
    };
    let decided = 0;
    const late = dependenciesWith({
      newOperationId: () => {
        if (decided++ === 0)
          db.insert(passkeys)
            .values({ ...passkey, counter: 0, name: "Key", isBackedUp: false, createdAtMs: 1 })
            .execute()
            .catch(expect.unreachable);
        return newOperationId();
      },
    });
    const signedIn = await verifySignIn(late, attempt(email, codeIn(deps.mails[0]), nonce));
    expect([signedIn, decided]).toMatchObject([{ ok: true, value: { state: "ACTIVE" } }, 2]);
    expect(await db.select().from(identities).where(eq(identities.userId, userId))).toEqual([]);
  });

  test("opens only one session when five parallel requests present the same code", async () => {
    const { email, userId } = await seedUser();
    const nonce = crypto.randomUUID();
    const deps = dependenciesWith();
    await sendCode(deps, { purpose: "SIGN_IN", email, boundTo: sha256Hex(nonce), ip: null });
    const code = codeIn(deps.mails[0]);
    const all = await Promise.all(Array.from({ length: 5 }, () => verifySignIn(deps, attempt(email, code, nonce))));
    expect(all.filter(({ ok }) => ok)).toHaveLength(1);
    expect(all.filter((result) => !result.ok)).toEqual(Array.from({ length: 4 }, () => INVALID));
    // One session from `seedUser`, and one from the sign-in.
    expect(await db.select().from(sessions).where(eq(sessions.userId, userId))).toHaveLength(2);
  });
});
