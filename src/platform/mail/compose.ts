// Turns one description into a plain-text body and an HTML body. Text by other users (a name, a merchant's title) passes through here into a
// recipient's mailbox, so it must never become a header, a tag or a right-to-left override.
import { plainText } from "../../lib/plain-text.ts";
import type { Mail } from "./mail.ts";

interface MailDescription {
  /** One address without a name. */
  readonly to: string;
  readonly subject: string;
  /** The first paragraph gives the reason for the email. The code and the link follow it, then the other paragraphs. */
  readonly paragraphs: readonly string[];
  /** Shown on a separate line of the text. */
  readonly code?: string;
  readonly link?: { readonly text: string; readonly url: string };
  /** The values of `lang` and `dir` in HTML; English if absent. */
  readonly language?: { readonly code: string; readonly direction: "ltr" | "rtl" };
}

/** Throws if `to` is not one bare address or a link is not http(s). That is a bug, because the caller has validated both. */
export function composeMail(of: MailDescription): Mail {
  const { to } = of;
  if (!/^[^\s\p{Cc}<>,;:"()]+@[^\s\p{Cc}<>,;:"()@]+$/u.test(to))
    throw new Error("the recipient is not one bare address");
  const [first = "", ...others] = of.paragraphs.map(plainText);
  const code = of.code === undefined ? [] : [plainText(of.code)];
  const link = of.link === undefined ? [] : [{ text: plainText(of.link.text), url: linkUrl(of.link.url) }];
  const text = [first, ...code, ...link.map((each) => `${each.text}:\n${each.url}`), ...others].join("\n\n");
  const blocks = [
    paragraph(escapeHtml(first)),
    ...code.map((each) => `<p style="font:700 1.6em/1.4 monospace;letter-spacing:.12em">${escapeHtml(each)}</p>`),
    ...link.map(
      (each) =>
        paragraph(`<a href="${escapeHtml(each.url)}">${escapeHtml(each.text)}</a>`) +
        `<p style="word-break:break-all">${escapeHtml(each.url)}</p>`,
    ),
    ...others.map((each) => paragraph(escapeHtml(each))),
  ];
  const subject = plainText(of.subject).trim();
  return { to, subject, text: `${text}\n`, html: page(of.language, escapeHtml(subject), blocks.join("\n")) };
}

function linkUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol))
    throw new Error("a mail links to http or https only");
  return parsed.href;
}

function paragraph(html: string): string {
  return `<p>${html}</p>`;
}

function page(language: MailDescription["language"], title: string, body: string): string {
  const { code, direction } = language ?? { code: "en", direction: "ltr" };
  return `<!doctype html>
<html lang="${code}" dir="${direction}"><head><meta charset="utf-8"><title>${title}</title></head>
<body style="font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:0 auto;padding:1rem">
${body}
</body></html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
