// Sets up the walk through all operations: users with sessions, a key, and rows that no operation creates.
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { MerchantId } from "../../../src/lib/ids.ts";
import { restoreFindings } from "../../../src/platform/db/schema/restores.ts";
import { identities } from "../../../src/platform/db/schema/users.ts";
import { deploymentWith, seedKey } from "../../support/access.ts";
import { type Browser, newBrowser } from "../../support/browser.ts";
import { seedCursor } from "../../support/payments.ts";
import { seedSession, seedUser, type TestUser } from "../../support/people.ts";
import { freshId, testDb } from "../../support/worker-merchant.ts";
import type { Caller } from "./walk-harness.ts";

const DEV_CONTROL = "http://127.0.0.1:4747/token";

export interface Person extends TestUser {
  readonly as: Caller;
}

export interface World {
  /** A caller without credentials. */
  readonly anybody: Caller;
  keyOf(merchantId: string): Promise<Caller>;
  /** A user with a session that has just stepped up with an emailed code. */
  person(changes?: Parameters<typeof seedUser>[0]): Promise<Person>;
  /** A browser without a session. */
  browser(): Browser;
  /** The id of the user's other session. */
  sessionOf(user: TestUser): Promise<string>;
}

/** A deployment with an ETH source that does not answer, sign-in with GitHub, and a control port that reports success. */
export async function openWorld(): Promise<World> {
  const trial = {
    kind: "evm-rpc",
    outcome: "OK",
    height: 104,
    blockAtMs: Date.now(),
    latencyMs: 9,
    lacksBalances: false,
  };
  const trySources = async () => ({ kind: "TRIED", sources: [trial] });
  const watcher = { wake: async () => {}, lookUp: async () => "FOUND", trySources };
  const through = deploymentWith({
    CHAIN_SOURCES: JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "http://127.0.0.1:9" }] }),
    DEV_CONTROL,
    SIGN_IN_PROVIDERS: JSON.stringify({ github: { clientId: "walk", clientSecret: "secret" } }),
    NETWORK_WATCHER: { getByName: () => watcher },
  } as unknown as Partial<Env>);
  await seedCursor("ETH", { tipHeight: 104 });
  vi.stubGlobal("fetch", async () => Response.json(CHAIN));
  return {
    anybody: through,
    keyOf: async (merchantId) => {
      const key = await seedKey(merchantId as MerchantId);
      return (path, ask) => through(path, { ...ask, key });
    },
    person: async (changes) => {
      const user = await seedUser(changes);
      return { ...user, as: (path, ask) => through(path, { ...ask, headers: { ...user.headers, ...ask?.headers } }) };
    },
    browser: () => newBrowser({}, through),
    sessionOf: async ({ userId }) => {
      const { cookie = "" } = await seedSession(userId);
      const { results } = await env.DB.prepare("select id from sessions where user_id = ? order by id desc limit 1")
        .bind(userId)
        .all<{ id: string }>();
      return cookie === "" ? "" : String(results[0]?.id);
    },
  };
}

const CHAIN = { state: "RUNNING", network: "ETH_SEPOLIA", cryptocurrency: "USDC" };

export async function seedIdentity({ userId }: TestUser): Promise<Readonly<Record<string, string>>> {
  const subject = crypto.randomUUID();
  await testDb.insert(identities).values({ provider: "github", subject, userId, createdAtMs: Date.now() });
  return { provider: "github", subject };
}

export async function seedFinding(merchantId: string): Promise<string> {
  const id = freshId("rfd");
  await testDb
    .insert(restoreFindings)
    .values({ id, epoch: 1, reason: "WALLET_LOST", merchantId, createdAtMs: Date.now() });
  return id;
}

/** The token of the newest link to `page` in the emails to the address. */
export async function linkToken(email: string, page: string): Promise<string> {
  const mails = await env.DEV_MAILBOX.getByName("mailbox").list(email);
  const [, token] = mails.map(({ text }) => new RegExp(`${page}#token=([\\w-]+)`).exec(text)).find(Boolean) ?? [];
  if (token === undefined) throw new Error(`no mail leads to ${page}`);
  return token;
}
