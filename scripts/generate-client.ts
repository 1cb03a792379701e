// Writes client/api-types.ts, and the same for the console, from the OpenAPI document (`npm run client:generate`); with --check only reports
// whether the files are up to date. The document is built here from the routes: no server is needed.
import { type ApiDocument, clientTypes } from "../client/scripts/client-types.ts";
import type { RouteSpec } from "../src/platform/http/route.ts";
import { keepGenerated } from "./generated-file.ts";
import { loadRoutes } from "./load-routes.ts";

const specs = await loadRoutes();
const { openApiDocument } = await import("../src/app/openapi.ts");
const { SECRET_KEY_PERMISSIONS } = await import("../src/accounts/teams/permissions.ts");
const document: ApiDocument = JSON.parse(JSON.stringify(openApiDocument(specs, "")));
/** Tags of routes that anybody may call and the console does. */
const FOR_USERS: readonly string[] = ["Sign-in", "Wallets", "Deployment", "Service"];
const held = new Set<string>(SECRET_KEY_PERMISSIONS);

await generate("client/api-types.ts", "./events.ts", isForKeys);
await generate("dashboard/src/api/operations.ts", "../../../client/events.ts", isForUsers);

/** What a secret key may call. */
function isForKeys({ callers, permission }: RouteSpec): boolean {
  return callers === "MEMBER_OR_KEY" && (permission ?? "").split(" or ").some((each) => held.has(each));
}

/** What a user may call, signed in or about to sign in. */
function isForUsers({ callers, path, tag }: RouteSpec): boolean {
  if (callers === "KEY") return false;
  return callers !== "ANYBODY" || (path.startsWith("/api/") && FOR_USERS.includes(tag));
}

async function generate(file: string, events: string, isWanted: (spec: RouteSpec) => boolean): Promise<void> {
  const wanted = new Set(specs.filter(isWanted).map((spec) => spec.operationId));
  keepGenerated({ file, text: await clientTypes(document, wanted, events), command: "npm run client:generate" });
}
