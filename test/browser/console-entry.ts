// Opens the console without its sign-in page, for tests that are not about signing in.
import type { BrowserContext } from "playwright-core";

/** The emails to an address, newest first. */
export async function mailsTo(baseUrl: string, email: string): Promise<readonly { readonly text: string }[]> {
  const headers = { accept: "application/json" };
  const answer = await fetch(`${baseUrl}/dev/mail?to=${encodeURIComponent(email)}`, { headers });
  const mails = (await answer.json()) as { readonly data?: readonly { readonly text: string }[] };
  return mails.data ?? (mails as unknown as readonly { readonly text: string }[]);
}

/** The newest 8-digit code that was emailed to an address. Other emails, such as an invitation, may arrive at any time. */
export async function codeMailedTo(baseUrl: string, email: string): Promise<string> {
  const mails = await mailsTo(baseUrl, email);
  const [code] = mails.flatMap(({ text }) => /^(\d{8})$/m.exec(text)?.[1] ?? []);
  if (code === undefined) throw new Error(`no mail with a code to ${email}`);
  return code;
}

/** Signs a browser in through the API, so that it has a user's cookies. */
export async function enter(context: BrowserContext, baseUrl: string, email: string): Promise<void> {
  const headers = { origin: baseUrl };
  const post = async (path: string, data: unknown) => {
    const answer = await context.request.post(`${baseUrl}/api/v1/auth/email/${path}`, { data, headers });
    if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
  };
  await post("start", { email });
  await post("verify", { email, code: await codeMailedTo(baseUrl, email) });
}
