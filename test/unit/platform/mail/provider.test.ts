import { describe, expect, test } from "vitest";
import { parseMailProvider, parseSender, senderText } from "../../../../src/platform/mail/provider.ts";

describe("MAIL_PROVIDER", () => {
  test.each([
    ['{"kind":"cloudflare"}', { kind: "cloudflare" }],
    ['{"kind":"resend","apiKey":"re_1"}', { kind: "resend", apiKey: "re_1", url: "https://api.resend.com" }],
    [
      '{"kind":"resend","apiKey":"re_1","url":"https://mail.example/v1"}',
      { kind: "resend", apiKey: "re_1", url: "https://mail.example/v1" },
    ],
    [
      '{"kind":"resend","apiKey":"re_1","url":"http://127.0.0.1:9000"}',
      { kind: "resend", apiKey: "re_1", url: "http://127.0.0.1:9000" },
    ],
  ])("%s is accepted, even in production", (text, value) => {
    expect(parseMailProvider(text, false)).toEqual({ ok: true, value });
    expect(parseMailProvider(text, true)).toEqual({ ok: true, value });
  });

  test("the mailbox is accepted in development only", () => {
    expect(parseMailProvider('{"kind":"mailbox"}', true)).toEqual({ ok: true, value: { kind: "mailbox" } });
    expect(parseMailProvider('{"kind":"mailbox"}', false)).toMatchObject({ ok: false });
  });

  test.each([undefined, "", " "])("%j counts as unset: the mailbox in development, an error in production", (text) => {
    expect(parseMailProvider(text, true)).toEqual({ ok: true, value: { kind: "mailbox" } });
    expect(parseMailProvider(text, false)).toEqual({
      ok: false,
      error: expect.stringMatching(/^MAIL_PROVIDER is not set/),
    });
  });

  test.each([
    "mailbox",
    "null",
    "[]",
    "{}",
    '{"kind":"smtp"}',
    '{"kind":"cloudflare","apiKey":"hunter2"}',
    '{"kind":"resend"}',
    '{"kind":"resend","apiKey":""}',
    '{"kind":"resend","apiKey":"hunter2\\r\\nx: y"}',
    '{"kind":"resend","apiKey":"hunter2","url":"http://mail.example"}',
    '{"kind":"resend","apiKey":"hunter2","url":"http://localhost.evil.example"}',
    '{"kind":"resend","apiKey":"hunter2","url":"file:///etc/passwd"}',
    '{"kind":"resend","apiKey":"hunter2","key":"x"}',
    '{"kind":"resend","apiKey":"hunter2"',
  ])("%s is refused with an error that does not show the key", (text) => {
    const parsed = parseMailProvider(text, true);
    expect(parsed).toEqual({ ok: false, error: expect.stringMatching(/^MAIL_PROVIDER/) });
    expect(JSON.stringify(parsed)).not.toContain("hunter2");
  });
});

describe("MAIL_FROM", () => {
  test.each([
    ["pay@example.com", { name: "", email: "pay@example.com" }, "pay@example.com"],
    [
      "Edgetill <edgetill@localhost>",
      { name: "Edgetill", email: "edgetill@localhost" },
      "Edgetill <edgetill@localhost>",
    ],
    [
      " Shop payments <pay@example.com> ",
      { name: "Shop payments", email: "pay@example.com" },
      "Shop payments <pay@example.com>",
    ],
    [
      '"Shop payments" <pay@example.com>',
      { name: "Shop payments", email: "pay@example.com" },
      "Shop payments <pay@example.com>",
    ],
    ["<pay@example.com>", { name: "", email: "pay@example.com" }, "pay@example.com"],
  ])("%j is accepted as the sender", (text, value, written) => {
    expect(parseSender(text)).toEqual({ ok: true, value });
    expect(senderText(value)).toBe(written);
  });

  test.each([
    undefined,
    "",
    "Shop",
    "pay@",
    "@localhost",
    "a@example.com, b@example.com",
    "Shop, Inc <pay@example.com>",
    "Shop\r\nBcc: eve@example.com <pay@example.com>",
    "Shop <pay@example.com> <b@example.com>",
    "Shop <pay@example.com",
  ])("%j is refused", (text) => {
    expect(parseSender(text)).toMatchObject({ ok: false, error: expect.stringContaining("MAIL_FROM") });
  });
});
