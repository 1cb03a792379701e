import { describe, expect, test } from "vitest";
import { logLine, type Report } from "../../../../src/lib/log.ts";
import { err, ok } from "../../../../src/lib/result.ts";
import { cloudflareMailClient } from "../../../../src/platform/mail/cloudflare-client.ts";
import type { MailClient, MailProblem } from "../../../../src/platform/mail/mail.ts";
import { resendClient } from "../../../../src/platform/mail/resend-client.ts";
import { sendMail } from "../../../../src/platform/mail/send-mail.ts";

const MAIL = { to: "ann@example.com", subject: "Your code", text: "01234567\n", html: "<p>01234567</p>" };
const FROM = { name: "Shop", email: "pay@example.com" };
const PASSING: MailProblem = { reason: "status 500", isPassing: true };
const LASTING: MailProblem = { reason: "status 422", isPassing: false };

/** Sends an email through a provider that gives these outcomes in turn. */
async function deliver(outcomes: readonly (MailProblem | undefined)[]) {
  const ids: string[] = [];
  const pauses: number[] = [];
  const lines: string[] = [];
  const client: MailClient = {
    name: "resend",
    send: async (_mail, id) => {
      const problem = outcomes[ids.push(id) - 1];
      return problem === undefined ? ok(undefined) : err(problem);
    },
  };
  const sleep = async (ms: number) => void pauses.push(ms);
  const report: Report = (alert, facts) => void lines.push(logLine("error", { alert, ...facts }));
  await sendMail({ sleep, random: () => 0.5, report }, client, MAIL, "one-id");
  return { ids, pauses, lines };
}

describe("with sendMail,", () => {
  test("an email that was accepted is neither repeated nor logged", async () => {
    expect(await deliver([undefined])).toEqual({ ids: ["one-id"], pauses: [], lines: [] });
  });

  test("a temporary failure is retried after a pause, under the same id", async () => {
    const { ids, pauses, lines } = await deliver([PASSING, undefined]);
    expect([ids, pauses.length, lines]).toEqual([["one-id", "one-id"], 1, []]);
  });

  test("an email is logged as lost after three attempts, without its recipient or its text", async () => {
    const { ids, pauses, lines } = await deliver([PASSING, PASSING, PASSING, undefined]);
    expect([ids.length, pauses.length]).toEqual([3, 2]);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { level: "error", alert: "a mail was lost", provider: "resend", reason: "status 500", tries: 3 },
    ]);
  });

  test("a permanent failure is not retried", async () => {
    const { ids, lines } = await deliver([LASTING]);
    expect([ids.length, lines.length]).toEqual([1, 1]);
  });
});

describe("the Resend client", () => {
  const client = (fetch: (url: string, init: RequestInit) => Promise<Response>, timeoutMs = 1_000) =>
    resendClient({ fetch, baseUrl: "https://api.resend.com/", apiKey: "re_hunter2", from: FROM, timeoutMs });

  test("posts the email as Resend documents it", async () => {
    const calls: { url: string; init: RequestInit }[] = [];
    const sent = await client(async (url, init) => {
      calls.push({ url, init });
      return Response.json({ id: "1" });
    }).send(MAIL, "one-id");
    expect(sent).toEqual({ ok: true, value: undefined });
    const [{ url, init } = { url: "", init: {} }] = calls;
    expect([url, init.method, init.redirect]).toEqual(["https://api.resend.com/emails", "POST", "manual"]);
    expect(Object.fromEntries(new Headers(init.headers))).toEqual({
      authorization: "Bearer re_hunter2",
      "content-type": "application/json",
      "user-agent": "edgetill",
      "idempotency-key": "one-id",
    });
    expect(JSON.parse(String(init.body))).toEqual({
      from: "Shop <pay@example.com>",
      to: ["ann@example.com"],
      subject: "Your code",
      text: "01234567\n",
      html: "<p>01234567</p>",
    });
  });

  test.each([
    [500, true],
    [503, true],
    [429, true],
    [409, true],
    [302, false],
    [401, false],
    [403, false],
    [422, false],
  ])("counts status %i as a failure (temporary: %s), and does not read the body", async (status, isPassing) => {
    const sent = await client(async () => new Response("ann@example.com 01234567", { status })).send(MAIL, "one-id");
    expect(sent).toEqual({ ok: false, error: { reason: `status ${status}`, isPassing } });
  });

  test("stops waiting for a provider that hangs after its time limit", async () => {
    const hang = (_url: string, init: RequestInit) =>
      new Promise<Response>((_, reject) => {
        init.signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    const sent = await client(hang, 5).send(MAIL, "one-id");
    expect(sent).toEqual({ ok: false, error: { reason: "no answer in time", isPassing: true } });
  });

  test("reports a connection failure without the error's message", async () => {
    const sent = await client(async () => {
      throw new Error("cannot reach ann@example.com with re_hunter2");
    }).send(MAIL, "one-id");
    expect(sent).toEqual({ ok: false, error: { reason: "no connection", isPassing: true } });
  });
});

describe("Cloudflare's binding", () => {
  const client = (send: (mail: unknown) => Promise<EmailSendResult>, from = FROM, timeoutMs = 1_000) =>
    cloudflareMailClient({ binding: { send }, from, timeoutMs });
  const failure = (code: string) => Object.assign(new Error("ann@example.com"), { code });

  test.each([
    [FROM, FROM],
    [{ name: "", email: "pay@example.com" }, "pay@example.com"],
  ])("gets the email with the sender %j", async (sender, from) => {
    const mails: unknown[] = [];
    const binding = client(async (mail) => {
      mails.push(mail);
      return { messageId: "1" };
    }, sender);
    expect(await binding.send(MAIL, "one-id")).toEqual({ ok: true, value: undefined });
    expect(mails).toEqual([{ from, ...MAIL }]);
  });

  test.each([
    [failure("E_RATE_LIMIT_EXCEEDED"), "E_RATE_LIMIT_EXCEEDED", true],
    [failure("E_INTERNAL_SERVER_ERROR"), "E_INTERNAL_SERVER_ERROR", true],
    [failure("E_SENDER_NOT_VERIFIED"), "E_SENDER_NOT_VERIFIED", false],
    [failure("E_RECIPIENT_NOT_ALLOWED"), "E_RECIPIENT_NOT_ALLOWED", false],
    [failure("ann@example.com"), "the binding threw", true],
    [new Error("ann@example.com"), "the binding threw", true],
    ["ann@example.com", "the binding threw", true],
  ])("that throws %s is reported as %s (temporary: %s)", async (thrown, reason, isPassing) => {
    const sent = await client(() => Promise.reject(thrown)).send(MAIL, "one-id");
    expect(sent).toEqual({ ok: false, error: { reason, isPassing } });
  });

  test("that hangs is abandoned after its time limit", async () => {
    const sent = await client(() => new Promise(() => undefined), FROM, 5).send(MAIL, "one-id");
    expect(sent).toEqual({ ok: false, error: { reason: "no answer in time", isPassing: true } });
  });
});
