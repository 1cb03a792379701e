// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused
const UNSAFE = /[\u0000-\u0020\u007f-\u009f\\]/u;

/**
 * Where a customer may be sent: exactly http or https with `//` written out (a parser would forgive `http:\\host`), no user name or
 * password, no control characters or spaces (security.md 4). Stored and echoed as sent.
 */
export function isRedirectUrl(value: string): boolean {
  if (!/^https?:\/\/[^/]/i.test(value) || UNSAFE.test(value) || !URL.canParse(value)) return false;
  const url = new URL(value);
  return (
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.username === "" &&
    url.password === "" &&
    url.hostname !== ""
  );
}
