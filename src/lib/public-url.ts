// Which URLs from callers we may request: https on port 443, at a host name on the public Internet. Checks the parsed URL, so that no spelling of an
// IP address passes.
import { hostProblem } from "./public-host.ts";
import { err, ok, type Result } from "./result.ts";

const MAX_LENGTH = 2_048;

/** Whether a string has a space, a backslash or a control character (C0, DEL, C1), which a parser accepts but a reader does not notice. */
export function hasUnsafeCharacter(value: string): boolean {
  return [...value].some((character) => {
    const code = character.codePointAt(0) ?? 0;
    return code <= 0x20 || (code >= 0x7f && code <= 0x9f) || character === "\\";
  });
}

/** The URL to request, without its fragment; the error is a reason for the user. */
export function publicHttpsUrl(text: string): Result<string, string> {
  if (text.length > MAX_LENGTH) return err(`its URL is longer than ${MAX_LENGTH} characters`);
  if (!/^https:\/\/[^/]/i.test(text)) return err("its URL does not begin with https://");
  if (hasUnsafeCharacter(text) || !URL.canParse(text)) return err("its URL is not valid");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return err("its URL must not have a user name or password");
  if (url.port !== "") return err("its URL must use port 443");
  if (hostProblem(url.hostname) !== undefined) return err("its URL must have a public host name");
  url.hash = "";
  return ok(url.href);
}
