// Our cookies. `__Host-` makes the browser hold them to one origin and https; on plain http at localhost, and only there, that prefix
// and Secure cannot be.
import { publicUrl } from "./deployment.ts";

export type CookieName = "session" | "signin" | "known";

type Deployment = Pick<Env, "PUBLIC_URL">;

/** The value of one of our cookies in a Cookie header. */
export function readCookie(env: Deployment, header: string | undefined, name: CookieName): string | undefined {
  const wanted = fullName(env, name);
  for (const pair of (header ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === wanted) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** A Set-Cookie header; `maxAgeSeconds` 0 takes the cookie away. */
export function setCookie(env: Deployment, name: CookieName, value: string, maxAgeSeconds: number): string {
  const secure = isPlainLocalhost(env) ? "" : "; Secure";
  return `${fullName(env, name)}=${value}; Path=/; Max-Age=${maxAgeSeconds}${secure}; HttpOnly; SameSite=Lax`;
}

export function clearCookie(env: Deployment, name: CookieName): string {
  return setCookie(env, name, "", 0);
}

function fullName(env: Deployment, name: CookieName): string {
  return isPlainLocalhost(env) ? name : `__Host-${name}`;
}

/** By what the operator configured, never by the Host header. */
function isPlainLocalhost(env: Deployment): boolean {
  return /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(publicUrl(env));
}
