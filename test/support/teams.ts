// Teams for tests on workerd: a merchant with users in it, and calls as them.
import { env, exports } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import type { Role } from "../../src/accounts/roles/roles.ts";
import type { MemberId, MerchantId } from "../../src/lib/ids.ts";
import { auditEvents } from "../../src/platform/db/schema/audit-events.ts";
import { events } from "../../src/platform/db/schema/events.ts";
import { invitations, members } from "../../src/platform/db/schema/teams.ts";
import { seedMerchant } from "./access.ts";
import { ORIGIN, seedMember, seedUser, type TestUser } from "./people.ts";
import { type Answer, testDb } from "./worker-merchant.ts";

export interface Teammate extends TestUser {
  readonly memberId: MemberId;
  readonly as: Caller;
}

export interface Caller {
  readonly get: (path: string) => Promise<Answer>;
  readonly post: (path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly patch: (path: string, body: unknown) => Promise<Answer>;
  readonly delete: (path: string, body?: unknown) => Promise<Answer>;
}

async function callAs(
  headers: Readonly<Record<string, string>>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const response = await exports.default.fetch(
    new Request(`${ORIGIN}${path}`, { method, headers: { ...headers, ...type }, ...json }),
  );
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === "" ? undefined : JSON.parse(text) };
}

/** Calls in the session of `headers`; paths are used unchanged. */
export function callerWith(headers: Readonly<Record<string, string>>): Caller {
  return {
    get: (path) => callAs(headers, "GET", path),
    post: (path, body, more) => callAs({ ...headers, ...more }, "POST", path, body),
    patch: (path, body) => callAs(headers, "PATCH", path, body),
    delete: (path, body) => callAs(headers, "DELETE", path, body),
  };
}

/** A user with a verified mailbox, and calls in their session. */
export async function freshUser(
  changes: Parameters<typeof seedUser>[0] = {},
): Promise<TestUser & { readonly as: Caller }> {
  const user = await seedUser(changes);
  return { ...user, as: callerWith(user.headers) };
}

export class TestTeam {
  readonly merchantId: MerchantId;
  readonly merchant: string;
  readonly path: string;

  constructor(merchantId: MerchantId) {
    this.merchantId = merchantId;
    this.merchant = `/api/v1/merchants/merchant/${merchantId}`;
    this.path = `${this.merchant}/team`;
  }

  async join(role: Role, changes: Parameters<typeof seedUser>[0] = {}): Promise<Teammate> {
    const user = await freshUser(changes);
    return { ...user, memberId: await seedMember(this.merchantId, user.userId, role) };
  }

  /** Roles by user, as the database stores them. */
  async roles(): Promise<Readonly<Record<string, Role>>> {
    const rows = await testDb.select().from(members).where(eq(members.merchantId, this.merchantId));
    return Object.fromEntries(rows.map((row) => [row.userId, row.role]));
  }

  async owners(): Promise<number> {
    const roles = await this.roles();
    return Object.values(roles).filter((role) => role === "OWNER").length;
  }

  async invitations() {
    return testDb.select().from(invitations).where(eq(invitations.merchantId, this.merchantId));
  }

  /** Audit entries of one action, oldest first, with the members that tests compare. */
  async audit(action?: (typeof auditEvents.$inferSelect)["action"]) {
    const rows = await testDb
      .select()
      .from(auditEvents)
      .where(
        and(
          eq(auditEvents.merchantId, this.merchantId),
          action === undefined ? undefined : eq(auditEvents.action, action),
        ),
      )
      .orderBy(auditEvents.createdAtMs, auditEvents.id);
    return rows.map(({ actorId, action: did, target, before, after }) => ({
      actorId,
      action: did,
      target,
      before: before === null ? null : JSON.parse(before),
      after: after === null ? null : JSON.parse(after),
    }));
  }

  async events(type?: string) {
    const rows = await testDb.select().from(events).where(eq(events.merchantId, this.merchantId));
    return rows
      .filter((row) => type === undefined || row.type === type)
      .map((row) => ({ type: row.type, data: JSON.parse(row.data) }));
  }
}

/** A merchant with an OWNER. */
export async function freshTeam(): Promise<{ readonly team: TestTeam; readonly owner: Teammate }> {
  const team = new TestTeam(await seedMerchant());
  return { team, owner: await team.join("OWNER") };
}

/** The tokens of the invitations emailed to an address, newest first. */
export async function tokensMailedTo(email: string): Promise<readonly string[]> {
  const mails = await env.DEV_MAILBOX.getByName("mailbox").list(email);
  return mails.map(({ text }) => /\/invitations#token=([\w-]+)/.exec(text)?.[1] ?? "");
}

export const ACCEPT = "/api/v1/team/invitations/accept";
export const acceptById = (id: string) => `/api/v1/team/invitations/${id}/accept-by-id`;

/** Invites as `who`, and returns the emailed token. */
export async function invited(
  team: TestTeam,
  who: Teammate,
  email: string,
  role: Role,
): Promise<{ id: string; token: string }> {
  const answer = await who.as.post(`${team.path}/invitations`, { email, role });
  if (answer.status !== 201) throw new Error(`inviting was answered ${answer.status} ${answer.text}`);
  const [token = ""] = await tokensMailedTo(email);
  return { id: answer.body.id, token };
}

/** Counts of answers by status and code: `200`, `404 INVITATION_NOT_FOUND`. */
export function tally(answers: readonly Answer[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = body?.code === undefined ? String(status) : `${status} ${body.code}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
