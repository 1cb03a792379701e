// Our cookies. The prefix `__Host-` binds them to one host and to https. Only on plain http at localhost are they set without that prefix and without
// Secure, because browsers would refuse them.
import { publicUrl } from "./deployment.ts";

export type CookieName = "session" | "signin" | "known" | PageCookie;

/** A cookie of one page: browsers send it to no other path. */
type PageCookie = "shown";

type Deployment = Pick<Env, "PUBLIC_URL">;

/** The value of one of our cookies in a Cookie header; undefined if it is absent. */
export function readCookie(env: Deployment, header: string | undefined, name: CookieName): string | undefined {
  const wanted = fullName(env, name);
  for (const pair of (header ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === wanted) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** A Set-Cookie header; `maxAgeSeconds` 0 deletes the cookie. */
export function setCookie(
  env: Deployment,
  name: Exclude<CookieName, PageCookie>,
  value: string,
  maxAgeSeconds: number,
): string {
  return cookieText(env, name, { value, maxAgeSeconds, path: "/" });
}

/** A Set-Cookie header for a cookie of one page. */
export function setPageCookie(env: Deployment, name: PageCookie, of: CookieOf): string {
  return cookieText(env, name, of);
}

export function clearCookie(env: Deployment, name: Exclude<CookieName, PageCookie>): string {
  return setCookie(env, name, "", 0);
}

interface CookieOf {
  readonly value: string;
  readonly maxAgeSeconds: number;
  readonly path: string;
}

function cookieText(env: Deployment, name: CookieName, { value, maxAgeSeconds, path }: CookieOf): string {
  const secure = isPlainLocalhost(env) ? "" : "; Secure";
  return `${fullName(env, name)}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}${secure}; HttpOnly; SameSite=Lax`;
}

/** Browsers accept `__Host-` only with the path `/`. */
function fullName(env: Deployment, name: CookieName): string {
  if (isPlainLocalhost(env)) return name;
  return name === "shown" ? `__Secure-${name}` : `__Host-${name}`;
}

/** Decided by the configured PUBLIC_URL, never by the Host header. */
function isPlainLocalhost(env: Deployment): boolean {
  return /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(publicUrl(env));
}
