// What a deployment serves before it is set up: in production nothing but its set-up, static assets and `/healthz` (security.md 5). Also reads from
// storage what takes precedence over the variables: the origin that the set-up stored, if PUBLIC_URL is empty, and the newest restore.
import { isServing, signUpOf } from "../../accounts/email-codes/new-accounts.ts";
import { isOriginSafe } from "../../lib/ip-network.ts";
import { requestSleep } from "../../lib/sleep.ts";
import { readSetUp, withDeployment, withOrigin } from "../../platform/deployment/read-deployment.ts";
import type { AppContext } from "../../platform/http/context.ts";
import { isDevelopment, publicUrl } from "../../platform/http/deployment.ts";
import { failureResponse } from "../../platform/http/errors.ts";
import { CONSOLE_PAGES } from "../console/paths.ts";
import { consolePage, isNavigation } from "../console/routes.ts";

/** The paths that are served before the set-up. */
const SET_UP_PATHS: readonly string[] = [CONSOLE_PAGES.setUp.path, "/api/v1/setup/options", "/api/v1/setup"];

export async function onceSetUp(c: AppContext, next: () => Promise<void>): Promise<Response | undefined> {
  const { path } = c.req;
  if (path !== "/healthz") {
    const refused = SET_UP_PATHS.includes(path) ? takeOwnOrigin(c) : await refusalOf(c);
    if (refused !== undefined) return refused;
  }
  await next();
  return undefined;
}

/** Whether production waits for a set-up link; used by `/healthz`. False if storage does not answer. */
export async function isWaitingForSetUp(c: AppContext): Promise<boolean> {
  const mode = signUpOf(c.env.SIGN_UP);
  if (isDevelopment(c.env) || mode === "open") return false;
  const found = await readSetUp(c.env, readingOf(c));
  return found.ok && !isServing(mode, found.value);
}

/** A set-up link decides the origin, so its own page and routes use the request's origin. An explicit PUBLIC_URL takes precedence. */
function takeOwnOrigin(c: AppContext): undefined {
  const { origin } = new URL(c.req.url);
  if (publicUrl(c.env) === "" && isOriginSafe(origin)) c.env = { ...c.env, PUBLIC_URL: origin };
}

async function refusalOf(c: AppContext): Promise<Response | undefined> {
  const mode = signUpOf(c.env.SIGN_UP);
  if (!isDevelopment(c.env) && mode !== "open") {
    const found = await readSetUp(c.env, readingOf(c));
    if (!found.ok) return failureResponse(found.error, c.get("requestId"));
    if (!isServing(mode, found.value)) return notSetUp(c);
  }
  // A development server is never deployed, so no deploy can lose its RESTORE_EPOCH.
  const read = isDevelopment(c.env) ? withOrigin : withDeployment;
  const known = await read(c.env, readingOf(c));
  if (!known.ok) return failureResponse(known.error, c.get("requestId"));
  c.env = known.value;
  return undefined;
}

/** A browser gets the console's page, which tells the operator what to do. */
async function notSetUp(c: AppContext): Promise<Response> {
  if (c.req.method !== "GET" || !isNavigation(c)) return failureResponse({ code: "NOT_SET_UP" }, c.get("requestId"));
  return consolePage(c, { status: 503, words: "not-set-up" });
}

function readingOf(c: AppContext) {
  return { nowMs: c.get("nowMs"), sleep: requestSleep() };
}
