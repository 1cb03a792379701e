// The sign-in providers that the operator has configured in the secret SIGN_IN_PROVIDERS, which is JSON. Google uses OpenID Connect, discovered from
// its issuer. GitHub uses OAuth with three URLs. The URLs are configurable, for GitHub Enterprise and for tests.
import * as z from "zod";
import { lazily } from "../../lib/lazily.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { SignInProvider } from "./security-policy.ts";

const text = lazily(() => z.string().min(1).max(500));
const endpoint = lazily(() => z.url().refine((url) => isEndpoint(url, true), "must be https"));
const google = lazily(() =>
  z.strictObject({
    clientId: text(),
    clientSecret: text(),
    issuer: endpoint().default("https://accounts.google.com"),
  }),
);
const github = lazily(() =>
  z.strictObject({
    clientId: text(),
    clientSecret: text(),
    authorizeUrl: endpoint().default("https://github.com/login/oauth/authorize"),
    tokenUrl: endpoint().default("https://github.com/login/oauth/access_token"),
    apiUrl: endpoint().default("https://api.github.com"),
  }),
);
const providers = lazily(() => z.strictObject({ google: google().optional(), github: github().optional() }));

export type GoogleClient = z.output<ReturnType<typeof google>>;
export type GithubClient = z.output<ReturnType<typeof github>>;
export type Providers = z.output<ReturnType<typeof providers>>;

/** Parses SIGN_IN_PROVIDERS; empty means no provider. The error never repeats a value, because the values include client secrets. */
export function parseProviders(json: string | undefined): Result<Providers, string> {
  if (json === undefined || json.trim() === "") return ok({});
  const problem = err('SIGN_IN_PROVIDERS must be JSON: {"google":{"clientId":"...","clientSecret":"..."}}');
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return problem;
  }
  const parsed = providers().safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const [first] = parsed.error.issues;
  return first === undefined ? problem : err(`SIGN_IN_PROVIDERS: ${first.path.join(".")}: ${first.code}`);
}

const PROVIDERS: readonly SignInProvider[] = ["google", "github"];

/** The configured providers; empty if the setting is invalid. */
export function configuredProviders(json: string | undefined): ReadonlySet<SignInProvider> {
  const parsed = parseProviders(json);
  if (!parsed.ok) return new Set();
  return new Set(PROVIDERS.filter((each) => parsed.value[each] !== undefined));
}

/** The provider with this name; undefined if there is none. */
export function parseProvider(name: string | undefined): SignInProvider | undefined {
  return PROVIDERS.find((each) => each === name);
}

/** Whether a URL may be requested, or opened by a browser: https, or with `isLoopbackAllowed` plain http to localhost. */
export function isEndpoint(url: string, isLoopbackAllowed: boolean): boolean {
  const parsed = URL.parse(url);
  return parsed?.protocol === "https:" || (isLoopbackAllowed && isLoopbackHttp(url));
}

/** Whether a URL is plain http to localhost, as for a provider in a test. */
function isLoopbackHttp(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed?.protocol === "http:" && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(parsed.hostname);
}
