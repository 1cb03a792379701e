// What the operator configured, read from the environment. What is wrong with it: `configuration.ts`.

/** Only `ENVIRONMENT=development` opens what must never be open in production (decisions 1 "Variables"). */
export function isDevelopment(env: Pick<Env, "ENVIRONMENT">): boolean {
  return env.ENVIRONMENT === "development";
}

/** Origin of links to our own pages, without a slash at its end; never the Host header. */
export function publicUrl(env: Pick<Env, "PUBLIC_URL">): string {
  return env.PUBLIC_URL.trim().replace(/\/+$/, "");
}
