import { hasUnsafeCharacter } from "./public-url.ts";

/**
 * Whether a customer may be redirected to a URL: http or https with a literal `//` (a parser would accept `http:\\host`), without a user name, a
 * password, control characters or spaces. The URL is stored and returned as it was sent.
 */
export function isRedirectUrl(value: string): boolean {
  if (!/^https?:\/\/[^/]/i.test(value) || hasUnsafeCharacter(value) || !URL.canParse(value)) return false;
  const url = new URL(value);
  return (
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.username === "" &&
    url.password === "" &&
    url.hostname !== ""
  );
}
