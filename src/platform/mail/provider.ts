// The operator's mail configuration: the secret MAIL_PROVIDER, which is JSON, and the variable MAIL_FROM.
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";

export const RESEND_URL = "https://api.resend.com";

/** Each request carries the API key, so plain http is allowed only to the operator's own machine. */
const baseUrl = lazily(() =>
  z
    .url()
    .max(500)
    .refine((url) => /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/])/.test(url), "must be https"),
);
const provider = lazily(() =>
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("mailbox") }),
    z.strictObject({ kind: z.literal("cloudflare") }),
    z.strictObject({
      kind: z.literal("resend"),
      apiKey: z.string().regex(/^[\x21-\x7e]{1,500}$/),
      url: baseUrl().default(RESEND_URL),
    }),
  ]),
);

/** `mailbox` keeps emails for `/dev/mail`; `cloudflare` uses the binding SEND_EMAIL; `resend` uses an HTTP service. */
export type MailProvider = z.output<ReturnType<typeof provider>>;

/** Parses MAIL_PROVIDER. If unset: the mailbox in development, an error in production. The error never repeats the value, because it is a secret. */
export function parseMailProvider(text: string | undefined, isDevelopment: boolean): Result<MailProvider, string> {
  if (text === undefined || text.trim() === "") {
    return isDevelopment
      ? ok({ kind: "mailbox" })
      : err("MAIL_PROVIDER is not set: no mail is sent, so nobody can sign in by a mailed code");
  }
  const problem = err('MAIL_PROVIDER must be JSON: {"kind":"cloudflare"} or {"kind":"resend","apiKey":"..."}');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return problem;
  }
  const parsed = provider().safeParse(value);
  if (!parsed.success) {
    const [first] = parsed.error.issues;
    return first === undefined || first.path.length === 0
      ? problem
      : err(`MAIL_PROVIDER: ${first.path.join(".")}: ${first.code}`);
  }
  if (parsed.data.kind === "mailbox" && !isDevelopment)
    return err("MAIL_PROVIDER: the mailbox is only allowed with ENVIRONMENT=development, because everyone can read it");
  return ok(parsed.data);
}

export interface Sender {
  readonly email: string;
  /** Empty if there is no name. */
  readonly name: string;
}

const address = lazily(() => z.email().max(320));

/** Parses MAIL_FROM: `pay@example.com` or `Shop payments <pay@example.com>`; the domain may be `localhost`. */
export function parseSender(text: string | undefined): Result<Sender, string> {
  const [, quoted, plain, inBrackets, bare] =
    /^\s*(?:(?:"([^"\\]*)"|([^"<>]*?))\s*<([^<>\s]+)>|([^<>\s]+))\s*$/.exec(text ?? "") ?? [];
  const email = inBrackets ?? bare ?? "";
  const name = quoted ?? plain ?? "";
  const isAddress = address().safeParse(email.replace(/@localhost$/, "@localhost.example")).success;
  if (!isAddress || /[\p{Cc},;]/u.test(name)) return err('MAIL_FROM must be "Shop payments <pay@example.com>"');
  return ok({ email, name });
}

/** The sender as in a From header; Resend uses the same form. */
export function senderText({ email, name }: Sender): string {
  return name === "" ? email : `${name} <${email}>`;
}
