import type { Challenge } from "./pass-challenge.ts";
import { parseTurnstile, type TurnstileVariables } from "./turnstile.ts";
import { askTurnstile } from "./turnstile-client.ts";

/** The challenge that strangers must solve; undefined unless the operator has set both keys. */
export function challengeOf(env: TurnstileVariables): Challenge | undefined {
  const parsed = parseTurnstile(env);
  if (!parsed.ok || parsed.value === undefined) return undefined;
  const { siteKey, origin, secretKey } = parsed.value;
  const settings = { origin, secretKey, fetch: (url: string, init: RequestInit) => fetch(url, init) };
  return { siteKey, origin, ask: (question) => askTurnstile(settings, question) };
}
