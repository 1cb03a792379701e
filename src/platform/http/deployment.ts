// Reads the operator's configuration from the environment. `configuration.ts` checks it.

/**
 * Whether this is a development deployment: only `ENVIRONMENT=development` enables what must never be enabled in production (decisions 1
 * "Variables").
 */
export function isDevelopment(env: Pick<Env, "ENVIRONMENT">): boolean {
  return env.ENVIRONMENT === "development";
}

/** Origin of links to our own pages, without a trailing slash. Never taken from the Host header. */
export function publicUrl(env: Pick<Env, "PUBLIC_URL">): string {
  return env.PUBLIC_URL.trim().replace(/\/+$/, "");
}
