// A browser for tests on workerd: it keeps our cookies, sends its origin, and its user reads the development mailbox.
import { env } from "cloudflare:workers";
import { type Answer, type Ask, send } from "./access.ts";
import { ORIGIN } from "./people.ts";

export interface Browser {
  ask(path: string, ask?: Ask): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  /** The current cookies; a deleted one is absent. */
  cookies(): Readonly<Record<string, string>>;
}

/** `through` sends the requests; by default they go to the Worker. */
export function newBrowser(headers: Readonly<Record<string, string>> = {}, through = send): Browser {
  const jar = new Map<string, string>();
  const ask = async (path: string, of: Ask = {}): Promise<Answer> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const own = { origin: ORIGIN, ...(cookie === "" ? {} : { cookie }), ...headers, ...of.headers };
    const answer = await through(path, { ...of, headers: own });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  };
  return {
    ask,
    post: (path, body) => ask(path, { method: "POST", ...(body === undefined ? {} : { body }) }),
    cookies: () => Object.fromEntries(jar),
  };
}

/** An address that no other test uses. */
export function freshEmail(name = "ann"): string {
  return `${name}-${crypto.randomUUID()}@example.com`;
}

/** The emails to an address, newest first. */
export const mailsTo = (email: string) => env.DEV_MAILBOX.getByName("mailbox").list(email);

/** The code in the newest email to an address. */
export async function mailedCode(email: string): Promise<string> {
  const [mail] = await mailsTo(email);
  const [, code] = /^(\d{8})$/m.exec(mail?.text ?? "") ?? [];
  if (code === undefined) throw new Error("no mail with a code");
  return code;
}

/** Requests a code, reads it from the email and signs in with it. */
export async function signIn(browser: Browser, email: string): Promise<Answer> {
  await browser.post("/api/v1/auth/email/start", { email });
  return browser.post("/api/v1/auth/email/verify", { email, code: await mailedCode(email) });
}
