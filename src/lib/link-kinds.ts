// Everything that is given to someone now and acts for them later: a link in an email, an emailed code, the challenge of a passkey, the way back from a
// provider. Each ends when its holder loses what the action requires: a seat, a role, a session or a browser. test/worker/accounts/links.test.ts covers all of
// them.

/** Rows of `single_use_tokens`. */
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

/** Tables whose rows are links themselves. */
export const LINK_TABLES = ["invitations", "set_up_links"] as const;

export type LinkKind = (typeof TOKEN_KINDS | typeof CODE_PURPOSES | typeof LINK_TABLES)[number];
