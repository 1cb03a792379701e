// A new set-up link: the link for its operator, and the SQL that activates it. The SQL has only the hash of the link's token.
import { randomBytes } from "node:crypto";
import { linkHashOf, SET_UP_LINK_LIFETIME_MS } from "../src/accounts/set-up/set-up-link.ts";
import { CONSOLE_PAGES } from "../src/app/console/paths.ts";
import { makeId, newUlid } from "../src/lib/ids.ts";

const TOKEN_BYTES = 32;

interface NewSetUpLink {
  /** Secret: the first user who opens it becomes an operator. */
  readonly link: string;
  /** Replaces links that were not used. Times are from the database's clock, because this machine's clock may be wrong. */
  readonly sql: string;
}

/** `origin`: where the deployment is served, without a trailing slash. */
export function newSetUpLink(origin: string): NewSetUpLink {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const entry = makeId("aud", newUlid(Date.now(), randomBytes(16)));
  const now = "unixepoch() * 1000";
  return {
    link: `${origin}${CONSOLE_PAGES.setUp.path}#${token}`,
    sql: [
      "DELETE FROM set_up_links WHERE used_at_ms IS NULL",
      `INSERT INTO set_up_links (token_hash, created_at_ms, expires_at_ms) VALUES ('${linkHashOf(token)}', ${now}, ${now} + ${SET_UP_LINK_LIFETIME_MS})`,
      `INSERT INTO audit_events (id, actor_kind, action, target, created_at_ms) VALUES ('${entry}', 'SYSTEM', 'setup_link.created', 'deployment', ${now})`,
    ].join("; "),
  };
}
