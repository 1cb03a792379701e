// The mailer that the operator configured (MAIL_PROVIDER), built from the environment once per request.
import { isDevelopment } from "../http/deployment.ts";
import { isoTime } from "../lib/time.ts";
import type { Mailer } from "./mail.ts";

export function mailerOf(
  env: Env,
  given: { readonly nowMs: number; readonly background: (work: Promise<unknown>) => void },
): Mailer {
  return {
    post: async (mail) => {
      if (!isDevelopment(env)) throw new Error("no mail provider is configured");
      await env.DEV_MAILBOX.getByName("mailbox").keep({ ...mail, at: isoTime(given.nowMs) });
    },
  };
}
