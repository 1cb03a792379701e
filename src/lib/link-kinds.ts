// The kinds of links. A link is anything that is issued now and lets its holder act later: a link in an email, an emailed code, a passkey challenge,
// or the return from a sign-in provider. A link becomes invalid when its holder loses what the action requires: the membership, the role, the session
// or the browser. test/worker/accounts/links.test.ts covers all of them.

/** The kinds of rows in `single_use_tokens`. */
export const TOKEN_KINDS = [
  "PASSKEY_REGISTRATION",
  "PASSKEY_SIGN_IN",
  "PASSKEY_STEP_UP",
  "OAUTH",
  "WALLET_DISABLE",
  "SET_UP",
] as const;

/** What an emailed code is for. */
export const CODE_PURPOSES = ["SIGN_IN", "SECOND_FACTOR", "STEP_UP"] as const;

/** Tables in which each row is a link. */
export const LINK_TABLES = ["invitations", "set_up_links"] as const;

export type LinkKind = (typeof TOKEN_KINDS | typeof CODE_PURPOSES | typeof LINK_TABLES)[number];
