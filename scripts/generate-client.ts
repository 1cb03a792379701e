// Writes client/api-types.ts and client/error-table.ts, and the types that only the console needs, from the OpenAPI document
// (`npm run client:generate`); with --check only reports whether the files are up to date. The document is built here from the routes: no server
// is needed.
import { type ApiDocument, clientTypes, type Wanted } from "../client/scripts/client-types.ts";
import type { RouteSpec } from "../src/platform/http/route.ts";
import { keepGenerated } from "./generated-file.ts";
import { loadRoutes } from "./load-routes.ts";

const specs = await loadRoutes();
const { openApiDocument } = await import("../src/app/openapi.ts");
const { clientErrors } = await import("./client-errors.ts");
const { SECRET_KEY_PERMISSIONS } = await import("../src/accounts/roles/permissions.ts");
const document: ApiDocument = JSON.parse(JSON.stringify(openApiDocument(specs, "")));
/** Tags of public routes that the console calls. */
const FOR_USERS: readonly string[] = ["Sign-in", "Wallets", "Deployment", "Service"];
const held = new Set<string>(SECRET_KEY_PERMISSIONS);

const forKeys: Wanted = {
  operationIds: idsOf(isForKeys),
  publicIds: idsOf((spec) => isForKeys(spec) && spec.isForPublicKeys),
  events: "./events.ts",
};
await generate("client/api-types.ts", forKeys);
await generate("dashboard/src/api/operations.ts", {
  operationIds: idsOf(isForUsers),
  events: "../../../client/events.ts",
  beside: { file: "../../../client/api-types.ts", wanted: forKeys },
});
keepGenerated({
  file: "client/error-table.ts",
  text: await clientErrors(specs.filter(isForKeys)),
  command: "npm run client:generate",
});

/** Whether a secret key may call the route. */
function isForKeys({ callers, permission }: RouteSpec): boolean {
  return callers === "MEMBER_OR_KEY" && (permission ?? "").split(" or ").some((each) => held.has(each));
}

/** Whether a user may call the route, signed in or while signing in. */
function isForUsers({ callers, path, tag }: RouteSpec): boolean {
  if (callers === "KEY") return false;
  return callers !== "ANYBODY" || (path.startsWith("/api/") && FOR_USERS.includes(tag));
}

function idsOf(is: (spec: RouteSpec) => boolean): ReadonlySet<string> {
  return new Set(specs.filter(is).map((spec) => spec.operationId));
}

async function generate(file: string, wanted: Wanted): Promise<void> {
  keepGenerated({ file, text: await clientTypes(document, wanted), command: "npm run client:generate" });
}
