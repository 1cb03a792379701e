/** A space, a backslash or a control character (C0, DEL, C1): what a parser forgives and a person does not see. */
function hasUnsafeCharacter(value: string): boolean {
  return [...value].some((character) => {
    const code = character.codePointAt(0) ?? 0;
    return code <= 0x20 || (code >= 0x7f && code <= 0x9f) || character === "\\";
  });
}

/**
 * Where a customer may be sent: exactly http or https with `//` written out (a parser would forgive `http:\\host`), no user name or
 * password, no control characters or spaces (security.md 4). Stored and echoed as sent.
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
