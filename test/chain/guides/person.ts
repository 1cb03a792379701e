// A user with a browser who has a merchant for each shop, and answers a plugin's key request like the console's page.
import { readQuestion } from "../../../src/accounts/applications/question.ts";
import { codeMailedTo } from "../../browser/console-entry.ts";
import { directWallet } from "../../support/wallet-bodies.ts";

export interface Merchant {
  readonly id: string;
  /** Calls a route of the merchant with the user's session; throws if it is refused. */
  call<T>(method: string, rest: string, body?: object): Promise<T>;
}

export interface Person {
  /** Creates the merchant with a USDT wallet. */
  openMerchant(name: string): Promise<Merchant>;
  /** The form that the page sends to the shop, and its target; undefined if the page shows the key instead. */
  answer(question: string, merchant: Merchant): Promise<Answer>;
}

interface Answer {
  readonly to: string | undefined;
  readonly form: URLSearchParams;
}

export async function signIn(baseUrl: string): Promise<Person> {
  const email = `plugins-${crypto.randomUUID()}@example.com`;
  const cookies = new Map<string, string>();
  const send = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        origin: baseUrl,
        cookie: [...cookies.values()].join("; "),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    // A step-up changes the session's token.
    for (const each of response.headers.getSetCookie()) cookies.set(each.replace(/=.*/, ""), each.replace(/;.*/, ""));
    return JSON.parse(text === "" ? "null" : text);
  };
  await send("POST", "/api/v1/auth/email/start", { email });
  await send("POST", "/api/v1/auth/email/verify", { email, code: await codeMailedTo(baseUrl, email) });
  return {
    openMerchant: async (name) => {
      const { id } = await send<{ readonly id: string }>("POST", "/api/v1/merchants", { name });
      const call: Merchant["call"] = (method, rest, body) =>
        send(method, `/api/v1/merchants/merchant/${id}${rest}`, body);
      await call("POST", "/wallets", { ...directWallet(), requiredConfirmations: 2 });
      return { id, call };
    },
    answer: async (question, { id, call }) => {
      const page = await fetch(question, { headers: { accept: "text/html" } });
      const [, token = ""] = /\bquestion=([\w.-]+)/.exec(await page.text()) ?? [];
      const asked = readQuestion(new URL(question).searchParams);
      if (!asked.ok) throw new Error(asked.error);
      const { application, redirect, rights } = asked.value;
      const body = { question: token, application, redirect: redirect?.url ?? null, rights: [...rights] };
      // Steps up like the page, because the user may have signed in more than five minutes ago.
      await send("POST", "/api/v1/auth/step-up/start");
      await send("POST", "/api/v1/auth/step-up/verify", { code: await codeMailedTo(baseUrl, email) });
      const { secret } = await call<{ readonly secret: string }>("POST", "/applications", body);
      const form = new URLSearchParams({ apiKey: secret.replace("_", "") });
      for (const right of rights) form.append("permissions[]", `${right}:${id}`);
      return { to: redirect?.url, form };
    },
  };
}
