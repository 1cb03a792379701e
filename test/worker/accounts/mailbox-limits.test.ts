// The address of one mailbox has many spellings, which share one limit. A stranger who uses up the limits must not lock out the owner: random
// histories are compared with a model of what each caller may still do.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { expectRefusal } from "../../support/access.ts";
import { mailedCode, newBrowser, signIn } from "../../support/browser.ts";
import { appCode, appHolder, newcomer, pendingBrowser, SECOND_FACTOR } from "../../support/factors.ts";
import { triesOf } from "../../support/property-runs.ts";
import { freshTeam } from "../../support/teams.ts";
import { passkeyUser, signIn as signInByPasskey } from "./passkeys-harness.ts";

const START = "/api/v1/auth/email/start";

let networks = 0;
/** An IP address in an unused network. */
const freshNetwork = () => `2001:db8:${(0x1000 + networks++).toString(16)}:1::1`;
const from = (ip: string) => newBrowser({ "cf-connecting-ip": ip });

const freshName = () => `victim${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;

/** Another spelling of an address at gmail.com: `n` selects dots, the tag, the domain and capitals. */
function spelled(name: string, n: number): string {
  const dotted = [...name].map((letter, at) => (at > 0 && (n >> (at % 8)) & 1 ? `.${letter}` : letter)).join("");
  const capital = n % 3 === 0 ? dotted.toUpperCase() : dotted;
  return `${capital}${n % 2 === 0 ? `+tag${n}` : ""}@${n % 5 === 0 ? "GoogleMail.com" : "gmail.com"}`;
}

type Ask = { readonly by: "STRANGER"; readonly spelling: number } | { readonly by: "HOME" | "KNOWN_BROWSER" };

const asks = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ by: fc.constant("STRANGER" as const), spelling: fc.nat({ max: 100_000 }) }) },
    { weight: 1, arbitrary: fc.record({ by: fc.constantFrom("HOME" as const, "KNOWN_BROWSER" as const) }) },
  ),
  { minLength: 45, maxLength: 70 },
);

describe("codes to one mailbox", () => {
  it("are limited across all spellings of the address; the owner's known browsers and networks have their own limits", async () => {
    const runs = fc.asyncProperty(asks, async (history: readonly Ask[]) => {
      const name = freshName();
      const email = `${name}@gmail.com`;
      const home = freshNetwork();
      const known = from(home);
      expect((await signIn(known, email)).status).toBe(200);
      // The owner's first code counts as a stranger's, because the browser was not known yet.
      const count = { STRANGER: 1, HOME: 1, KNOWN_BROWSER: 0 };
      const most = {
        STRANGER: LIMITS.signInCodesPerAddressAndDay,
        HOME: LIMITS.signInCodesPerAddressAndNetworkAndHour,
        KNOWN_BROWSER: LIMITS.signInCodesPerKnownBrowserAndHour,
      };
      for (const ask of history) {
        const { by } = ask;
        const browser = by === "KNOWN_BROWSER" ? known : from(by === "HOME" ? home : freshNetwork());
        const to = ask.by === "STRANGER" ? spelled(name, ask.spelling) : email;
        const { status } = await browser.post(START, { email: to });
        expect([by, count[by], status]).toEqual([by, count[by], count[by] < most[by] ? 202 : 429]);
        if (status === 202) count[by] += 1;
      }
    });
    await fc.assert(runs, { numRuns: triesOf({ usual: 4, deep: 100 }), endOnFailure: true });
  });

  /** Strangers request codes until no more are emailed to the address. */
  async function flood(email: string): Promise<void> {
    for (let n = 0; n < LIMITS.signInCodesPerAddressAndDay; n++) await from(freshNetwork()).post(START, { email });
    expectRefusal(await from(freshNetwork()).post(START, { email }), 429, "RATE_LIMITED");
  }

  it("do not block a passkey sign-in when the limit is used up", async () => {
    const { email, authenticator } = await passkeyUser();
    await flood(email);
    expect((await signInByPasskey(authenticator)).status).toBe(200);
  });

  it("do not block a second factor, by app or by email, when the limit is used up", async () => {
    const { email, secret } = await appHolder();
    const byApp = await pendingBrowser(email);
    await flood(email);
    expect((await byApp.post(`${SECOND_FACTOR}/verify`, { code: appCode(secret) })).status).toBe(200);
    const mailed = await newcomer();
    expect((await mailed.browser.post("/api/v1/me/email-otp")).status).toBe(204);
    const byMail = await pendingBrowser(mailed.email);
    await flood(mailed.email);
    expect((await byMail.post(`${SECOND_FACTOR}/start`)).status).toBe(202);
    const given = await byMail.post(`${SECOND_FACTOR}/verify`, { code: await mailedCode(mailed.email) });
    expect(given.json).toMatchObject({ state: "active" });
  });
});

describe("invitations to one mailbox", () => {
  it("are emailed at most ten times a day across all spellings of the address, and the others wait", async () => {
    const { team, owner } = await freshTeam();
    const name = freshName();
    for (let n = 0; n < 25; n++)
      await owner.as.post(`${team.path}/invitations`, { email: spelled(name, 2 * n), role: "VIEWER" });
    const mailed = (await team.invitations()).filter(({ mailedAtMs }) => mailedAtMs !== null);
    expect(mailed).toHaveLength(LIMITS.invitationMailsPerMailboxAndDay);
  });
});
