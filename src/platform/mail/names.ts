// Names that other people chose, in mails that come from us: mail programs make a link of anything that looks like an address, and a link in a
// name would be a stranger's advertisement under our sender.
import { plainText } from "../../lib/plain-text.ts";

/** Between letters or digits: the dots that a domain may be written with, as browsers read them. */
const DOT = /(?<=[\p{L}\p{N}])[.\u3002\uff0e\uff61](?=[\p{L}\p{N}])/gu;
const LINK = /[@\uff20]|:\/\/|[\p{L}\p{N}][.\u3002\uff0e\uff61]\p{L}{2}|\d+\.\d+\.\d+\.\d+/u;

/** Whether a name holds a URL, an email address or `@`, or what a mail program takes for one. */
export function holdsLink(name: string): boolean {
  return LINK.test(plainText(name));
}

/** The name for the body of a mail: as it is, or with its addresses written so that nothing makes links of them. */
export function linkless(name: string): string {
  const shown = plainText(name);
  if (!holdsLink(shown)) return shown;
  return shown
    .replaceAll(/[@\uff20]/g, "[at]")
    .replaceAll("://", "[:]//")
    .replaceAll(DOT, "[.]");
}

/** A subject with the name in it, or `without` it where the name holds a link. */
export function subjectNaming(name: string, naming: (name: string) => string, without: string): string {
  return holdsLink(name) ? without : naming(plainText(name));
}
