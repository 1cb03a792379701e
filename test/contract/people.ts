// A user with a browser, over HTTP: cookies, our own Origin, and the emails that the development mailbox shows.
import { expect } from "vitest";
import { service } from "./client.ts";

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts what the body holds
  readonly body: any;
  readonly headers: Headers;
}

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly at: string;
}

const { baseUrl } = service;

/** An address that no other test uses. */
function freshEmail(name: string): string {
  return `${name}-${crypto.randomUUID()}@example.com`;
}

/** Emails sent to an address, newest first. */
export async function mailsTo(email: string): Promise<readonly Mail[]> {
  const url = `${baseUrl}/dev/mail?to=${encodeURIComponent(email)}`;
  const response = await fetch(url, { headers: { accept: "application/json" } });
  expect(response.status).toBe(200);
  return response.json();
}

/** The code in the newest email to an address. */
export async function codeSentTo(email: string): Promise<string> {
  const [newest] = await mailsTo(email);
  const [code] = /\b\d{8}\b/.exec(newest?.text ?? "") ?? [];
  if (code === undefined) throw new Error(`the newest mail to ${email} holds no code`);
  return code;
}

/** The token of the newest `/invitations` link emailed to an address. */
export async function invitationTokenSentTo(email: string): Promise<string> {
  for (const { text } of await mailsTo(email)) {
    const [, token] = /\/invitations#token=([\w-]+)/.exec(text) ?? [];
    if (token !== undefined) return token;
  }
  throw new Error(`no mail to ${email} holds an invitation`);
}

export class Browser {
  readonly #cookies = new Map<string, string>();
  readonly email: string;

  constructor(email: string) {
    this.email = email;
  }

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: "manual",
      headers: {
        origin: baseUrl,
        ...(this.#cookies.size === 0 ? {} : { cookie: this.cookie }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...more,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const at = pair.indexOf("=");
      if (/max-age=0/i.test(line)) this.#cookies.delete(pair.slice(0, at));
      else this.#cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  }

  get = (path: string) => this.call("GET", path);
  post = (path: string, body?: unknown, more?: Readonly<Record<string, string>>) => this.call("POST", path, body, more);
  patch = (path: string, body: unknown) => this.call("PATCH", path, body);
  delete = (path: string, body?: unknown) => this.call("DELETE", path, body);

  /** Signs in with a code from the mailbox. */
  async signIn(): Promise<Answer> {
    expect(await this.post("/api/v1/auth/email/start", { email: this.email })).toMatchObject({ status: 202 });
    return this.post("/api/v1/auth/email/verify", { email: this.email, code: await codeSentTo(this.email) });
  }
}

/** A user who is signed in. */
export async function signedIn(name: string): Promise<Browser> {
  const browser = new Browser(freshEmail(name));
  expect(await browser.signIn()).toMatchObject({ status: 200, body: { state: "active" } });
  return browser;
}
