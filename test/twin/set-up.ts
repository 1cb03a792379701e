// The set-up of a deployment by its first operator.
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { softwareAuthenticator } from "../support/software-authenticator.ts";
import type { Answered, Twin } from "./deployment.ts";
import { jsonIn } from "./json.ts";

/** The WebAuthn fields of `navigator.credentials.create` that a passkey needs. */
const CREATION = z.object({ challenge: z.string(), user: z.object({ id: z.string() }) });

/** A busy machine may refuse the first requests of a deployment. */
const [MOST_TRIES, PAUSE_MS] = [6, 5_000] as const;

/** Opens the set-up link with a passkey; returns the headers of the operator's session. */
export async function redeem(
  ask: Twin["ask"],
  origin: string,
  token: string,
): Promise<Readonly<Record<string, string>>> {
  for (let tries = 1; ; tries++) {
    const { status, text, cookies } = await tryToRedeem(ask, origin, token);
    const cookie = cookies.find((each) => /^(__Host-)?session=/.test(each))?.split(";")[0];
    if (cookie !== undefined) return { origin, cookie };
    if (status !== 503 || tries === MOST_TRIES) throw new Error(`the set-up gave no session: ${text}`);
    await sleep(PAUSE_MS);
  }
}

async function tryToRedeem(ask: Twin["ask"], origin: string, token: string): Promise<Answered> {
  const person = { token, email: "operator@example.com", name: "Ann" };
  const begun = await ask("/api/v1/setup/options", { method: "POST", headers: { origin }, body: person });
  if (begun.status !== 200) return begun;
  const authenticator = await softwareAuthenticator({ origin, rpId: new URL(origin).hostname });
  const credential = await authenticator.create(jsonIn(CREATION, begun.text));
  return ask("/api/v1/setup", { method: "POST", headers: { origin }, body: { token, credential } });
}
