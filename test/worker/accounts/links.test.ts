// Every kind of link, code and challenge must stop working when its holder loses what is required to use it (security.md 1 "Links and their
// holders"). A new kind of link fails here until a case shows what ends it.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { beginAttempt } from "../../../src/accounts/identities/begin-attempt.ts";
import { finishAttempt } from "../../../src/accounts/identities/finish-attempt.ts";
import { CODE_PURPOSES, LINK_TABLES, type LinkKind, TOKEN_KINDS } from "../../../src/lib/link-kinds.ts";
import { ok } from "../../../src/lib/result.ts";
import { setUpLinks } from "../../../src/platform/db/schema/deployment.ts";
import { merchants } from "../../../src/platform/db/schema/merchants.ts";
import { members } from "../../../src/platform/db/schema/teams.ts";
import { sessions } from "../../../src/platform/db/schema/users.ts";
import { type Answer, send } from "../../support/access.ts";
import { freshEmail, mailedCode, mailsTo, newBrowser, signIn } from "../../support/browser.ts";
import { newcomer, pendingBrowser, SECOND_FACTOR, STEP_UP } from "../../support/factors.ts";
import { seedUser } from "../../support/people.ts";
import { beginRedeeming, HERE, makeLink, production, undoSetUp } from "../../support/production.ts";
import { softwareAuthenticator } from "../../support/software-authenticator.ts";
import { ACCEPT, freshTeam, freshUser, invited } from "../../support/teams.ts";
import { directWallet } from "../../support/wallet-bodies.ts";
import { callbackOf, db, dependenciesWith, identityOf, sessionOf } from "./identities-harness.ts";
import { AUTH, creationOptions, MINE, passkeyUser, signInOptions } from "./passkeys-harness.ts";

interface Given {
  /** Uses the link, in the holder's own browser unless the case uses a different one; returns "done" or the refusal's code. */
  readonly use: () => Promise<string>;
  readonly end: () => Promise<unknown>;
}

const outcome = ({ status, json }: Pick<Answer, "status" | "json">) =>
  status < 300 ? "done" : String(json?.code ?? status);

const PASSKEY_USE = { origin: HERE, rpId: "localhost" };

/** Registers a wallet; the link is from the email that an ADMIN gets about it. */
async function disableLink(ending: "seat" | "role" | "merchant"): Promise<Given> {
  const { team, owner } = await freshTeam();
  const admin = await team.join("ADMIN");
  const made = await owner.as.post(`${team.merchant}/wallets`, directWallet());
  const [mail] = await mailsTo(admin.email);
  const token = /\/wallets\/disable#token=([\w-]+)/.exec(mail?.text ?? "")?.[1];
  return {
    use: async () => {
      const answer = await send("/api/v1/wallets/disable", { method: "POST", body: { token } });
      const { body } = await owner.as.get(`${team.merchant}/wallets/${made.body.id}`);
      if (ending !== "merchant") expect(body.isEnabled).toBe(answer.status !== 200);
      return outcome(answer);
    },
    end: async () => {
      const path = `${team.path}/members/${admin.memberId}`;
      if (ending === "seat") expect((await owner.as.delete(path)).status).toBe(204);
      if (ending === "role") expect((await owner.as.patch(path, { role: "MEMBER" })).status).toBe(200);
      if (ending === "merchant")
        await db.update(merchants).set({ deletedAtMs: 1 }).where(eq(merchants.id, team.merchantId));
    },
  };
}

async function invitation(ending: "seat" | "role" | "merchant"): Promise<Given> {
  const { team } = await freshTeam();
  const admin = await team.join("ADMIN");
  const invitee = await freshUser();
  const { token } = await invited(team, admin, invitee.email, "MEMBER");
  return {
    use: async () => {
      const { status, body } = await invitee.as.post(ACCEPT, { token });
      return outcome({ status, json: body });
    },
    end: async () => {
      const seat = eq(members.id, admin.memberId);
      if (ending === "seat") await db.delete(members).where(seat);
      if (ending === "role") await db.update(members).set({ role: "MEMBER" }).where(seat);
      if (ending === "merchant")
        await db.update(merchants).set({ deletedAtMs: 1 }).where(eq(merchants.id, team.merchantId));
    },
  };
}

/** Creates a set-up link like the script does: the new link is the only unused one. */
const replaceLink = async () => {
  await db.delete(setUpLinks);
  await makeLink();
};

async function setUpLink(): Promise<Given> {
  await undoSetUp();
  const token = await makeLink();
  const through = production();
  return {
    use: async () => outcome(await beginRedeeming(through, { token, email: freshEmail() })),
    end: replaceLink,
  };
}

async function setUpChallenge(): Promise<Given> {
  await undoSetUp();
  const token = await makeLink();
  const through = production();
  const begun = await beginRedeeming(through, { token, email: freshEmail() });
  const credential = await (await softwareAuthenticator(PASSKEY_USE)).create(JSON.parse(begun.text));
  const ask = { method: "POST", headers: { origin: HERE }, body: { token, credential } };
  return { use: async () => outcome(await through("/api/v1/setup", ask)), end: replaceLink };
}

/**
 * A link that is used within a session. `end` revokes that session and signs the user in again; `use` then uses the old session's link in the new
 * session.
 */
async function inSession(
  user: { readonly userId: Awaited<ReturnType<typeof seedUser>>["userId"] },
  of: (
    session: Awaited<ReturnType<typeof sessionOf>>,
  ) => Promise<(now: { headers: Record<string, string>; token: string }) => Promise<string>>,
  factor: "EMAIL_CODE" | "PASSKEY" = "EMAIL_CODE",
): Promise<Given> {
  const first = await sessionOf(user.userId, { factor });
  const act = await of(first);
  let now = first;
  return {
    use: () => act(now),
    end: async () => {
      await db.update(sessions).set({ revokedAtMs: Date.now() }).where(eq(sessions.id, first.sessionId));
      now = await sessionOf(user.userId, { factor });
    },
  };
}

const CASES: Readonly<Record<LinkKind, Readonly<Record<string, () => Promise<Given>>>>> = {
  WALLET_DISABLE: {
    "the holder leaves the team": () => disableLink("seat"),
    "the holder's role is lowered": () => disableLink("role"),
    "the merchant is deleted": () => disableLink("merchant"),
  },
  invitations: {
    "the inviter leaves the team": () => invitation("seat"),
    "the inviter's role is lowered": () => invitation("role"),
    "the merchant is deleted": () => invitation("merchant"),
  },
  set_up_links: { "a newer link is created": setUpLink },
  SET_UP: { "a newer link is created": setUpChallenge },
  PASSKEY_REGISTRATION: {
    "the session ends": async () =>
      inSession(await seedUser(), async ({ headers }) => {
        const credential = await (await softwareAuthenticator(PASSKEY_USE)).create(await creationOptions(headers));
        return async (now) => outcome(await send(MINE, { method: "POST", headers: now.headers, body: { credential } }));
      }),
  },
  PASSKEY_STEP_UP: {
    "the session ends": async () => {
      const user = await passkeyUser();
      return inSession(
        user,
        async ({ headers }) => {
          const begun = await send(`${STEP_UP}/start`, { method: "POST", headers, body: {} });
          const credential = await user.authenticator.get(JSON.parse(begun.text).passkey);
          const body = { method: "passkey", credential };
          return async (now) =>
            outcome(await send(`${STEP_UP}/verify`, { method: "POST", headers: now.headers, body }));
        },
        "PASSKEY",
      );
    },
  },
  PASSKEY_SIGN_IN: {
    "the browser changes": async () => {
      const user = await passkeyUser();
      const { options, headers } = await signInOptions();
      const body = { credential: await user.authenticator.get(options) };
      let now = headers;
      return {
        use: async () => outcome(await send(`${AUTH}/verify`, { method: "POST", headers: now, body })),
        end: async () => {
          now = (await signInOptions()).headers;
        },
      };
    },
  },
  OAUTH: {
    "the session ends": async () => {
      const { userId } = await seedUser();
      return inSession({ userId }, async ({ sessionId }) => {
        const { deps } = dependenciesWith(ok(identityOf()));
        const linkTo = { userId, sessionId };
        const begun = await beginAttempt(deps, { provider: "google", browserToken: undefined, returnTo: "/", linkTo });
        if (!begun.ok) throw new Error(begun.error.code);
        return async (now) => {
          const finished = await finishAttempt(deps, callbackOf(begun.value, { sessionToken: now.token }));
          return finished.ok ? "done" : finished.error.code;
        };
      });
    },
  },
  SIGN_IN: {
    "the browser changes": async () => {
      const email = freshEmail();
      let now = newBrowser();
      await now.post("/api/v1/auth/email/start", { email });
      const code = await mailedCode(email);
      return {
        use: async () => outcome(await now.post("/api/v1/auth/email/verify", { email, code })),
        end: async () => {
          now = newBrowser();
          await now.post("/api/v1/auth/email/start", { email: freshEmail() });
        },
      };
    },
  },
  SECOND_FACTOR: {
    "the session ends": async () => {
      const { email } = await seedUser({ emailOtpEnabledAtMs: 1 });
      let now = await pendingBrowser(email);
      await now.post(`${SECOND_FACTOR}/start`);
      const code = await mailedCode(email);
      return {
        use: async () => outcome(await now.post(`${SECOND_FACTOR}/verify`, { code })),
        end: async () => {
          await now.post("/api/v1/auth/sign-out");
          now = await pendingBrowser(email);
        },
      };
    },
  },
  STEP_UP: {
    "the session ends": async () => {
      const { email, browser } = await newcomer();
      let now = browser;
      await now.post(`${STEP_UP}/start`);
      const code = await mailedCode(email);
      return {
        use: async () => outcome(await now.post(`${STEP_UP}/verify`, { code })),
        end: async () => {
          await now.post("/api/v1/auth/sign-out");
          now = newBrowser();
          await signIn(now, email);
        },
      };
    },
  },
};

const ALL = Object.entries(CASES).flatMap(([kind, endings]) =>
  Object.entries(endings).map(([ending, given]) => [kind, ending, given] as const),
);

const REFUSALS = new Set([
  "LINK_INVALID",
  "INVITATION_NOT_FOUND",
  "SETUP_LINK_INVALID",
  "PASSKEY_REFUSED",
  "SIGN_IN_REFUSED",
  "INVALID_CODE",
]);

describe("a link", () => {
  test("of every kind is tested here", () => {
    expect(Object.keys(CASES).sort()).toEqual([...TOKEN_KINDS, ...CODE_PURPOSES, ...LINK_TABLES].sort());
  });

  test("is stored in one of the listed tables: except for sessions, no other table stores a token's hash", async () => {
    const { results } = await env.DB.prepare("select name, sql from sqlite_master where type = 'table'").all<{
      readonly name: string;
      readonly sql: string;
    }>();
    const holders = results.filter(({ sql }) => /[`"]token_hash[`"] /.test(sql)).map(({ name }) => name);
    expect(holders.sort()).toEqual([...LINK_TABLES, "sessions"].sort());
  });

  test.each(ALL)("of kind %s works until %s", async (_, __, given) => {
    expect(await (await given()).use()).toBe("done");
    const { use, end } = await given();
    await end();
    const refusal = await use();
    expect(REFUSALS.has(refusal), refusal).toBe(true);
  });
});
