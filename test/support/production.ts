// Deployments in production for tests on workerd. Each has its own database binding, so that none shares an isolate's cached set-up
// (platform/deployment/read-deployment.ts).
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { linkHashOf, SET_UP_LINK_LIFETIME_MS } from "../../src/accounts/set-up/set-up-link.ts";
import { openDb } from "../../src/platform/db/client.ts";
import { deployment, setUpLinks } from "../../src/platform/db/schema/deployment.ts";
import { type Answer, type Ask, deploymentWith } from "./access.ts";
import { softwareAuthenticator } from "./software-authenticator.ts";

/** The origin of requests in tests (access.ts). */
export const HERE = "http://localhost:8787";
const db = openDb(env.DB);

/** The variables of a new deployment, in which only the secrets are set. */
export const FRESH: Partial<Env> = {
  ENVIRONMENT: "production",
  PUBLIC_URL: "",
  RATE_SOURCE: "coinbase,kraken",
  MAIL_PROVIDER: '{"kind":"cloudflare"}',
  SIGN_UP: "first",
};

/** The test's database under another binding. */
export function ownDatabase(): D1Database {
  return new Proxy(env.DB, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Sends requests to a production deployment with its own database binding, for which nothing is cached, as in a new isolate. */
export function production(changes: Partial<Env> = {}): (path: string, ask?: Ask) => Promise<Answer> {
  return deploymentWith({ ...FRESH, DB: ownDatabase(), ...changes });
}

/** Undoes the deployment's set-up. */
export async function undoSetUp(): Promise<void> {
  await db.delete(deployment);
  await db.delete(setUpLinks);
}

export async function doSetUp(origin: string | null = HERE): Promise<void> {
  await db.insert(deployment).values({ id: 1, setUpAtMs: Date.now(), origin }).onConflictDoNothing();
  await db.update(deployment).set({ origin }).where(eq(deployment.id, 1));
}

/** Makes a new set-up link as the script does, but without replacing others; returns its token. */
export async function makeLink(changes: Partial<typeof setUpLinks.$inferInsert> = {}): Promise<string> {
  const token = crypto.randomUUID();
  const createdAtMs = Date.now();
  const expiresAtMs = createdAtMs + SET_UP_LINK_LIFETIME_MS;
  await db.insert(setUpLinks).values({ tokenHash: linkHashOf(token), createdAtMs, expiresAtMs, ...changes });
  return token;
}

type Send = (path: string, ask?: Ask) => Promise<Answer>;

interface Redeemer {
  readonly token: string;
  readonly email: string;
  readonly name?: string;
  readonly origin?: string;
}

export const beginRedeeming = (send: Send, { token, email, name = "Ann", origin = HERE }: Redeemer) =>
  send("/api/v1/setup/options", { method: "POST", headers: { origin }, body: { token, email, name } });

/** Completes both steps of a set-up with a new authenticator; returns the first refusal, if any. */
export async function redeem(send: Send, of: Redeemer): Promise<Answer> {
  const { token, origin = HERE } = of;
  const begun = await beginRedeeming(send, of);
  if (begun.status !== 200) return begun;
  const authenticator = await softwareAuthenticator({ origin, rpId: new URL(origin).hostname });
  const credential = await authenticator.create(JSON.parse(begun.text));
  return send("/api/v1/setup", { method: "POST", headers: { origin }, body: { token, credential } });
}

/** A response's session cookie, with the Origin that writes need. */
export function sessionOf(answer: Answer, origin = HERE): Readonly<Record<string, string>> {
  const cookie = answer.headers.getSetCookie().find((each) => /^(__Host-)?session=/.test(each)) ?? "";
  return { origin, cookie: cookie.split(";")[0] ?? "" };
}

/** Every row of every table, to see whether anything was written. */
export async function storedRows(): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const tables = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%'",
  ).all<{ readonly name: string }>();
  const reads = tables.results.map(({ name }) => env.DB.prepare(`SELECT * FROM "${name}"`));
  const rows = await env.DB.batch(reads);
  return Object.fromEntries(tables.results.map(({ name }, n) => [name, rows[n]?.results ?? []]));
}
