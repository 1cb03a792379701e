// Where a request of ours may go on a caller's word: https on its own port, to a host name of the public
// Internet. The parsed URL is judged, so that no spelling of an address gets past.
import { hostProblem } from "./public-host.ts";
import { err, ok, type Result } from "./result.ts";

const MAX_LENGTH = 2_048;

/** A space, a backslash or a control character (C0, DEL, C1): what a parser accepts and a reader does not see. */
export function hasUnsafeCharacter(value: string): boolean {
  return [...value].some((character) => {
    const code = character.codePointAt(0) ?? 0;
    return code <= 0x20 || (code >= 0x7f && code <= 0x9f) || character === "\\";
  });
}

/** The URL as it will be asked for, without a fragment; else a reason to show. */
export function publicHttpsUrl(text: string): Result<string, string> {
  if (text.length > MAX_LENGTH) return err(`its address is longer than ${MAX_LENGTH} characters`);
  if (!/^https:\/\/[^/]/i.test(text)) return err("its address does not begin with https://");
  if (hasUnsafeCharacter(text) || !URL.canParse(text)) return err("its address is not a URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return err("its address holds a user name or a password");
  if (url.port !== "") return err("its address has another port than 443");
  if (hostProblem(url.hostname) !== undefined) return err("its host is not one of the public Internet");
  url.hash = "";
  return ok(url.href);
}
