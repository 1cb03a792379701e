// What an application asks for: the query of `/api-keys/authorize`, in the format that shop plugins of BTCPay Server use. The Worker reads from it
// the only origin to which the page may send a form. The page reads which application asks for which rights.

import { isOriginSafe } from "../../lib/ip-network.ts";
import { isRedirectUrl } from "../../lib/redirect-url.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { isRight, type Right } from "./rights.ts";

const LONGEST_NAME = 200;
/** Kept short, because the URL is encoded twice in the return path of a sign-in with a provider. */
const LONGEST_URL = 1_000;
/** The maximum number of names of rights in one question; about forty rights exist. A right counts once for each store that is named with it. */
const MOST_NAMES = 60;

const NOT_VALID = "The address that the key should go to is not a valid one.";
/** Hosts that a content policy can name. URL parsers also accept characters such as `;` and `'`, which have a different meaning in a policy. */
const HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;
/** The name of a right. It is shown to the user, so it must not be free text. */
const NAME = /^(?:unrestricted|btcpay(?:\.[a-z]{1,40}){1,4})$/;

/** Invisible characters, and those that look like spaces: controls, direction marks, fillers, the Braille blank. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\s]+/gu;

export interface Question {
  /** The name that the application gives itself, which proves nothing. */
  readonly application: string;
  /** Where the key is sent; undefined if it is shown to the user instead. */
  readonly redirect: Redirect | undefined;
  /** The rights that can be granted, in the order requested. */
  readonly rights: readonly Right[];
  /** Names of requested rights that are never granted. */
  readonly refused: readonly string[];
}

export interface Redirect {
  readonly url: string;
  /** Scheme, host and port, the host in ASCII: what the user must compare, and where the browser will send the form. */
  readonly origin: string;
}

/** The error is a sentence for the user. */
export function readQuestion(query: URLSearchParams): Result<Question, string> {
  const names = [...new Set(query.getAll("permissions").flatMap((value) => value.split(/[,;\s]+/)))]
    // A plugin may name the store that it wants. The user chooses which one it gets.
    .map((name) => name.trim().toLowerCase().replace(/:.*$/, ""))
    .filter((name) => NAME.test(name));
  if (names.length > MOST_NAMES) return err("The application asks for too many rights.");
  const rights = [...new Set(names)].filter(isRight);
  if (rights.length === 0) return err("The application asks for no right that Edgetill can give.");
  const given = query.get("redirect") ?? "";
  const redirect = given === "" ? undefined : redirectOf(given);
  if (redirect !== undefined && !redirect.ok) return redirect;
  return ok({
    application: nameOf(query.get("applicationName") ?? "", redirect?.value),
    redirect: redirect?.value,
    rights,
    refused: [...new Set(names)].filter((name) => !isRight(name)).slice(0, MOST_NAMES),
  });
}

/** Accepts https, and http only on the user's own computer. The error is a sentence for the user. */
export function redirectOf(text: string): Result<Redirect, string> {
  if (text.length > LONGEST_URL) return err("The address that the key should go to is too long.");
  // Refuses a fragment, because the form would be sent without it, and an `@` before the host, which makes the host hard to see. The text itself is
  // checked, because a URL parser drops an empty user name.
  if (!isRedirectUrl(text) || /#|^[^/]*\/\/[^/?]*@/.test(text)) return err(NOT_VALID);
  const { origin, href, hostname } = new URL(text);
  if (!HOST.test(hostname)) return err(NOT_VALID);
  if (!isOriginSafe(origin))
    return err("The address that the key should go to is not encrypted: it must begin with https.");
  return ok({ url: href, origin });
}

/** The key's name: that of the application, or else its origin. */
function nameOf(text: string, redirect: Redirect | undefined): string {
  const name = [...text.replace(UNSEEN, " ").trim()].slice(0, LONGEST_NAME).join("");
  return name === "" ? (redirect?.origin ?? "Application") : name;
}
