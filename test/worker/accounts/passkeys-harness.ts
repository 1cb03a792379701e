// Shared by the passkey tests: software authenticators that register and sign in.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { webAuthn } from "../../../src/accounts/passkeys/use-web-authn.ts";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { openDb } from "../../../src/platform/db/client.ts";
import { auditEvents } from "../../../src/platform/db/schema/audit-events.ts";
import { singleUseTokens } from "../../../src/platform/db/schema/users.ts";
import { type Answer, send } from "../../support/access.ts";
import { ORIGIN, seedUser, type TestUser } from "../../support/people.ts";
import { type Authenticator, type Faults, softwareAuthenticator } from "../../support/software-authenticator.ts";

// Loads the library in advance. The Worker's bundle contains it; here the first of two parallel requests would load it, and the second would wait for
// a promise that belongs to the first.
await webAuthn();

export const db = openDb(env.DB);
export const MINE = "/api/v1/me/passkeys";
export const AUTH = "/api/v1/auth/passkey";

export type Headers = Readonly<Record<string, string>>;

export async function creationOptions(headers: Headers) {
  const asked = await send(`${MINE}/options`, { method: "POST", headers });
  expect(asked.status).toBe(200);
  const options: { challenge: string; user: { id: string }; excludeCredentials: { id: string }[] } = JSON.parse(
    asked.text,
  );
  return options;
}

export async function register(user: TestUser, authenticator: Authenticator, faults: Faults = {}): Promise<Answer> {
  const credential = await authenticator.create(await creationOptions(user.headers), faults);
  return send(MINE, { method: "POST", headers: user.headers, body: { credential, name: "Laptop" } });
}

export async function passkeyUser(of?: { readonly counter: 0 }) {
  const user = await seedUser();
  const authenticator = await softwareAuthenticator({ origin: ORIGIN, rpId: "localhost", ...of });
  const added = await register(user, authenticator);
  expect(added.status).toBe(201);
  return { ...user, authenticator, passkeyId: String(added.json?.id) };
}

/** Starts a sign-in; returns the browser's headers with its cookie, and the options that it got. */
export async function signInOptions(headers: Headers = {}) {
  const asked = await send(`${AUTH}/options`, { method: "POST", headers: { origin: ORIGIN, ...headers } });
  expect(asked.status).toBe(200);
  const options: { challenge: string } & Record<string, unknown> = JSON.parse(asked.text);
  const cookie = asked.headers.getSetCookie().find((each) => each.startsWith("signin=")) ?? "";
  return { options, headers: { origin: ORIGIN, cookie: cookie.split(";")[0] ?? "" } };
}

export async function signIn(authenticator: Authenticator, faults: Faults = {}): Promise<Answer> {
  const { options, headers } = await signInOptions();
  const credential = await authenticator.get(options, faults);
  return send(`${AUTH}/verify`, { method: "POST", headers, body: { credential } });
}

export const auditOf = async (target: string) =>
  (await db.select().from(auditEvents).where(eq(auditEvents.target, target))).map((row) => row.action);

export async function expire(challenge: string): Promise<void> {
  const hash = sha256Hex(challenge);
  await db.update(singleUseTokens).set({ expiresAtMs: Date.now() }).where(eq(singleUseTokens.hash, hash));
}
