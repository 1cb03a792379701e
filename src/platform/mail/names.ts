// Names that users chose, in emails that we send. Mail programs turn anything that looks like an address into a link, so a link in a name would be
// an advertisement under our sender address.
import { plainText } from "../../lib/plain-text.ts";

/** A dot between letters or digits, in any of the forms that browsers accept in a domain. */
const DOT = /(?<=[\p{L}\p{N}])[.\u3002\uff0e\uff61](?=[\p{L}\p{N}])/gu;
const LINK = /[@\uff20]|:\/\/|[\p{L}\p{N}][.\u3002\uff0e\uff61]\p{L}{2}|\d+\.\d+\.\d+\.\d+/u;

/** Whether a name contains a URL, an email address, `@`, or text that a mail program takes for one. */
export function holdsLink(name: string): boolean {
  return LINK.test(plainText(name));
}

/** The name for the body of an email; addresses in it are rewritten so that mail programs do not turn them into links. */
export function linkless(name: string): string {
  const shown = plainText(name);
  if (!holdsLink(shown)) return shown;
  return shown
    .replaceAll(/[@\uff20]/g, "[at]")
    .replaceAll("://", "[:]//")
    .replaceAll(DOT, "[.]");
}

/** The subject `naming(name)`, or `without` if the name contains a link. */
export function subjectNaming(name: string, naming: (name: string) => string, without: string): string {
  return holdsLink(name) ? without : naming(plainText(name));
}
