import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { expectHeaders, expectRefusal, send, sendWith } from "../../support/access.ts";
import { freshEmail, mailedCode, mailsTo } from "../../support/browser.ts";

const MAIL = "/dev/mail";
const START = "/api/v1/auth/email/start";
const json = { headers: { accept: "application/json" } };
const keep = (to: string, changes: Readonly<Record<string, string>> = {}) =>
  env.DEV_MAILBOX.getByName("mailbox").keep({
    to,
    subject: "Hello",
    text: "Hi.\n",
    html: "<p>Hi.</p>",
    at: "2026-11-21T12:00:00.000Z",
    ...changes,
  });

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe("the development mailbox", () => {
  test("lists emails as JSON, newest first, and its `to` filter ignores case", async () => {
    const [ann, bob] = [freshEmail("Ann"), freshEmail("bob")];
    await keep(ann, { subject: "First" });
    await keep(bob);
    await keep(ann, { subject: "Second" });
    const answer = await send(`${MAIL}?to=${encodeURIComponent(ann.toUpperCase())}`, json);
    expectHeaders(answer);
    const at = "2026-11-21T12:00:00.000Z";
    const common = { to: ann, text: "Hi.\n", html: "<p>Hi.</p>", at };
    expect(JSON.parse(answer.text)).toEqual([
      { ...common, subject: "Second" },
      { ...common, subject: "First" },
    ]);
    const all: { to: string }[] = JSON.parse((await send(MAIL, json)).text);
    expect(all.slice(0, 3).map(({ to }) => to)).toEqual([ann, bob, ann]);
  });

  test("has an email by the time the request that sent it is answered", async () => {
    const email = freshEmail();
    expect((await send(START, { method: "POST", body: { email } })).status).toBe(202);
    const [mail] = JSON.parse((await send(`${MAIL}?to=${email}`, json)).text);
    expect(mail).toMatchObject({ to: email, subject: "Your sign-in code" });
    expect(mail.text).toContain(`\n${await mailedCode(email)}\n`);
    expect(Math.abs(Date.now() - Date.parse(mail.at))).toBeLessThan(60_000);
  });

  test("is an HTML page with its own single script, in which the email's content is escaped", async () => {
    const to = freshEmail();
    const text = "See https://pay.example.com/x?a=1&b=2\n<script>alert(1)</script>\"'\n";
    await keep(to, { subject: "<img src=x onerror=alert(1)>", text });
    for (const headers of [{}, { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }]) {
      const page = await send(`${MAIL}?to=${to}`, { headers });
      expectHeaders(page);
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
      const policy = page.headers.get("content-security-policy");
      const [, nonce] = /script-src 'nonce-([\w-]{24})';/.exec(policy ?? "") ?? [];
      expect(policy).not.toMatch(/unsafe|\*|http/);
      expect(page.text.match(/<script[^>]*>|<img/g)).toEqual([`<script nonce="${nonce}">`]);
      expect(page.text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
      expect(page.text).toContain(
        '<a href="https://pay.example.com/x?a=1&amp;b=2">https://pay.example.com/x?a=1&amp;b=2</a>',
      );
    }
    expect((await send(`${MAIL}?to=${freshEmail()}`)).text).toContain("No mail yet.");
  });

  test.each(["production", "", "Development"])("does not exist when ENVIRONMENT is %j", async (ENVIRONMENT) => {
    for (const path of [MAIL, `${MAIL}?to=ann@example.com`]) {
      const there = await sendWith({ ENVIRONMENT }, path, json);
      const nowhere = await sendWith({ ENVIRONMENT }, "/dev/mails", json);
      const refusal = expectRefusal(there, 404, "ROUTE_NOT_FOUND");
      expect(refusal).toEqual(expectRefusal(nowhere, 404, "ROUTE_NOT_FOUND"));
      const names = (headers: Headers) => [...headers].filter(([name]) => name !== "x-request-id");
      expect(names(there.headers)).toEqual(names(nowhere.headers));
    }
  });
});

describe("the operator's mail provider", () => {
  const RESEND = { MAIL_PROVIDER: '{"kind":"resend","apiKey":"re_1"}', MAIL_FROM: "Shop <pay@example.com>" };

  test("gets the email instead of the mailbox", async () => {
    const bodies: string[] = [];
    vi.stubGlobal("fetch", async (_url: string, init: RequestInit) => {
      bodies.push(String(init.body));
      return Response.json({ id: "1" });
    });
    const email = freshEmail();
    expect((await sendWith(RESEND, START, { method: "POST", body: { email } })).status).toBe(202);
    expect(bodies.map((body) => JSON.parse(body))).toMatchObject([
      {
        from: "Shop <pay@example.com>",
        to: [email],
        subject: "Your sign-in code",
        text: expect.stringMatching(/^\d{8}$/m),
      },
    ]);
    expect(await env.DEV_MAILBOX.getByName("mailbox").list(email)).toEqual([]);
  });

  test("may be Cloudflare's email binding", async () => {
    const mails: unknown[] = [];
    const SEND_EMAIL: SendEmail = {
      send: async (mail: unknown) => {
        mails.push(mail);
        return { messageId: "1" };
      },
    };
    const email = freshEmail();
    const changes = { MAIL_PROVIDER: '{"kind":"cloudflare"}', SEND_EMAIL };
    expect((await sendWith(changes, START, { method: "POST", body: { email } })).status).toBe(202);
    expect(mails).toMatchObject([{ from: { name: "Edgetill", email: "pay@example.com" }, to: email }]);
  });

  test("that is not set, in production, is reported: no code is created, and users are told to sign in another way", async () => {
    const body = { email: freshEmail() };
    const refused = await sendWith({ ENVIRONMENT: "production", MAIL_PROVIDER: "" }, START, { method: "POST", body });
    expect([refused.status, refused.json]).toMatchObject([
      422,
      { code: "PROVIDER_NOT_CONFIGURED", message: "Sign-in with mail is not available on this deployment" },
    ]);
    expect(refused.headers.getSetCookie()).toEqual([]);
    const inDevelopment = await sendWith({ MAIL_PROVIDER: "" }, START, { method: "POST", body });
    expect([inDevelopment.status, (await mailsTo(body.email)).length]).toEqual([202, 1]);
  });

  test.each([
    ["refuses", { ...RESEND }],
    ["is misconfigured", { MAIL_PROVIDER: '{"kind":"pigeon"}' }],
    ["has no sender", { ...RESEND, MAIL_FROM: "" }],
    ["is the mailbox, in production", { ENVIRONMENT: "production" }],
  ])(
    "that %s loses the email: the response is the same, and the log contains neither address nor code",
    async (_, changes) => {
      const logged = vi.spyOn(console, "error").mockReturnValue();
      const texts: string[] = [];
      vi.stubGlobal("fetch", async (_url: string, init: RequestInit) => {
        texts.push(String(JSON.parse(String(init.body)).text));
        return new Response("no", { status: 422 });
      });
      const email = freshEmail();
      const answer = await sendWith(changes, START, { method: "POST", body: { email } });
      expect([answer.status, answer.text]).toEqual([202, '{"status":"sent"}']);
      const lines = logged.mock.calls.map((call) => call.join(" "));
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: "error", alert: "a mail was lost" }]);
      expect(lines.join("\n")).not.toContain(email);
      for (const text of texts) expect(lines.join("\n")).not.toContain(/^\d{8}$/m.exec(text)?.[0]);
    },
  );
});
