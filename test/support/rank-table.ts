/**
 * Who may give whom which role, as actor, target and new role: what Interface 4.4a and security.md 4 allow, written by hand. Everything else is
 * refused.
 */
export const MAY_CHANGE: ReadonlySet<string> = new Set([
  "OWNER ADMIN ADMIN",
  "OWNER ADMIN MEMBER",
  "OWNER ADMIN VIEWER",
  "OWNER MEMBER ADMIN",
  "OWNER MEMBER MEMBER",
  "OWNER MEMBER VIEWER",
  "OWNER VIEWER ADMIN",
  "OWNER VIEWER MEMBER",
  "OWNER VIEWER VIEWER",
  "ADMIN MEMBER MEMBER",
  "ADMIN MEMBER VIEWER",
  "ADMIN VIEWER MEMBER",
  "ADMIN VIEWER VIEWER",
  "MEMBER VIEWER VIEWER",
]);
