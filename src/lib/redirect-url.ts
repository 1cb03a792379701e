import { hasUnsafeCharacter } from "./public-url.ts";

/**
 * Where a customer may be sent: exactly http or https with `//` written out (a parser would forgive `http:\\host`), no user name or
 * password, no control characters or spaces. Stored and echoed as sent.
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
