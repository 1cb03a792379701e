// Which providers of sign-in the operator has set up: the secret SIGN_IN_PROVIDERS, JSON. Google is OpenID Connect, found by its issuer;
// GitHub is OAuth with three addresses of its own. The addresses are configurable, for GitHub Enterprise and for tests.
import * as z from "zod";
import { err, ok, type Result } from "../lib/result.ts";
import type { SignInProvider } from "../teams/security-policy.ts";

const text = z.string().min(1).max(500);
const google = z.strictObject({
  clientId: text,
  clientSecret: text,
  issuer: z.url().default("https://accounts.google.com"),
});
const github = z.strictObject({
  clientId: text,
  clientSecret: text,
  authorizeUrl: z.url().default("https://github.com/login/oauth/authorize"),
  tokenUrl: z.url().default("https://github.com/login/oauth/access_token"),
  apiUrl: z.url().default("https://api.github.com"),
});
const providers = z.strictObject({ google: google.optional(), github: github.optional() });

export type GoogleClient = z.output<typeof google>;
export type GithubClient = z.output<typeof github>;
export type Providers = z.output<typeof providers>;

/** Parses SIGN_IN_PROVIDERS; empty means none. The problem never repeats a value: it holds client secrets. */
export function parseProviders(json: string | undefined): Result<Providers, string> {
  if (json === undefined || json.trim() === "") return ok({});
  const problem = err('SIGN_IN_PROVIDERS must be JSON: {"google":{"clientId":"...","clientSecret":"..."}}');
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return problem;
  }
  const parsed = providers.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const [first] = parsed.error.issues;
  return first === undefined ? problem : err(`SIGN_IN_PROVIDERS: ${first.path.join(".")}: ${first.code}`);
}

/** Those that are set up; none where the setting is wrong. */
export function configuredProviders(json: string | undefined): ReadonlySet<SignInProvider> {
  const parsed = parseProviders(json);
  if (!parsed.ok) return new Set();
  const all: readonly SignInProvider[] = ["google", "github"];
  return new Set(all.filter((each) => parsed.value[each] !== undefined));
}
