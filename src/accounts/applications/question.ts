// What an application asks for: the query of `/api-keys/authorize`, as shop plugins of BTCPay Server write it. The Worker reads it to name the one origin
// that the page may send a form to, and the page to show who asks for what.

import { isOriginSafe } from "../../lib/ip-network.ts";
import { isRedirectUrl } from "../../lib/redirect-url.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { isRight, type Right } from "./rights.ts";

const LONGEST_NAME = 200;
/** Encoded twice when it is part of the address to return to after signing in with a provider. */
const LONGEST_URL = 1_000;
/** Distinct names in one question; about forty exist. */
const MOST_NAMES = 60;

const NOT_VALID = "The address that the key should go to is not a valid one.";
/** Hosts that a content policy can name. Parsers accept more, such as `;` and `'`, which mean something else there. */
const HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;
/** A name is shown to the user, so it must not be free text. */
const NAME = /^(?:unrestricted|btcpay(?:\.[a-z]{1,40}){1,4})$/;

/** Invisible characters, and those that look like spaces: controls, direction marks, fillers, the blank of Braille. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\s]+/gu;

export interface Question {
  /** The name that the application gives itself, which proves nothing. */
  readonly application: string;
  /** Where the key goes; undefined if it is shown to the user instead. */
  readonly redirect: Redirect | undefined;
  /** Those that can be granted, in the order requested. */
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

/** https, and http on the user's own computer only; the error is a sentence for the user. */
export function redirectOf(text: string): Result<Redirect, string> {
  if (text.length > LONGEST_URL) return err("The address that the key should go to is too long.");
  // The form is sent without a fragment. A parser drops an empty user name, which hides the host from a reader.
  if (!isRedirectUrl(text) || /#|^[^/]*\/\/[^/?]*@/.test(text)) return err(NOT_VALID);
  const { origin, href, hostname } = new URL(text);
  if (!HOST.test(hostname)) return err(NOT_VALID);
  if (!isOriginSafe(origin))
    return err("The address that the key should go to is not encrypted: it must begin with https.");
  return ok({ url: href, origin });
}

/** A key needs a name: the application's, or else that of its host. */
function nameOf(text: string, redirect: Redirect | undefined): string {
  const name = [...text.replace(UNSEEN, " ").trim()].slice(0, LONGEST_NAME).join("");
  return name === "" ? (redirect?.origin ?? "Application") : name;
}
