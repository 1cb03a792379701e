import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { composeMail } from "../../../../src/platform/mail/compose.ts";
import { RUNS } from "../../../support/property-runs.ts";

const plain = { to: "ann@example.com", subject: "Hello", paragraphs: ["First."] };

describe("in an email from composeMail,", () => {
  test("a code is alone on a line of the text, after the first paragraph", () => {
    const mail = composeMail({ ...plain, paragraphs: ["Your code:", "It works for 10 minutes."], code: "01234567" });
    expect(mail.text).toBe("Your code:\n\n01234567\n\nIt works for 10 minutes.\n");
    expect(mail.html).toContain(">01234567<");
  });

  test("a link is written out in the text and the HTML", () => {
    const url = "https://pay.example.com/invitations?a=1&b=2#token";
    const mail = composeMail({ ...plain, link: { text: "Open the invitation", url } });
    expect(mail.text).toContain(`Open the invitation:\n${url}\n`);
    expect(mail.html).toContain(
      `<a href="https://pay.example.com/invitations?a=1&amp;b=2#token">Open the invitation</a>`,
    );
  });

  test.each(["javascript:alert(1)", "data:text/html,x", "ftp://example.com/", "/relative", ""])(
    "a link to %j is refused",
    (url) => {
      expect(() => composeMail({ ...plain, link: { text: "x", url } })).toThrow("http or https");
    },
  );

  test("the language is English unless a different language and direction are given", () => {
    expect(composeMail(plain).html).toContain('<html lang="en" dir="ltr">');
    const arabic = composeMail({ ...plain, language: { code: "ar", direction: "rtl" } });
    expect(arabic.html).toContain('<html lang="ar" dir="rtl">');
  });

  test("other people's text cannot become a tag, an attribute or an entity", () => {
    const evil = `<img src=x onerror="a('b')">&lt;`;
    const { html } = composeMail({
      ...plain,
      subject: evil,
      paragraphs: [evil],
      link: { text: evil, url: "https://a.b/" },
    });
    expect(html).not.toContain("<img");
    expect(html.split("&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt;&amp;lt;").length).toBe(4);
  });

  test("the subject is one line without control and direction characters", () => {
    const mail = composeMail({ ...plain, subject: "Hi\r\nBcc: eve@example.com\u0000\u202e!\u2066\u007f\u0085" });
    expect(mail.subject).toBe("Hi Bcc: eve@example.com!");
  });

  test.each([
    "ann@example.com\r\nBcc: eve@example.com",
    "ann@example.com\n",
    "ann\u0000@example.com",
    "Ann <ann@example.com>",
    "ann@example.com,eve@example.com",
    "ann@example.com;eve@example.com",
    "ann @example.com",
    "ann@example.com\u0085",
    "ann@b@example.com,",
    "nobody",
    "",
  ])("the recipient %j is refused, and the error does not show it", (to) => {
    const attempt = () => composeMail({ ...plain, to });
    expect(attempt).toThrow(/^the recipient is not one bare address$/);
  });

  test("there are no control or direction characters except the line feeds of the layout", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
        const mail = composeMail({
          to: "ann@example.com",
          subject: a,
          paragraphs: [b, a],
          link: { text: b, url: "https://a.b/" },
        });
        expect(mail.subject).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
        for (const body of [mail.text, mail.html])
          expect(body.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
        expect(mail.text.split("\n")).toHaveLength(7);
      }),
      { numRuns: RUNS },
    );
  });
});
