// Writes client/api-types.ts from the OpenAPI document (`npm run client:generate`); with --check only reports whether the file is up to date.
// The document is built here from the routes: no server is needed.
import { clientTypes } from "../client/scripts/client-types.ts";
import { keepGenerated } from "./generated-file.ts";
import { loadRoutes } from "./load-routes.ts";

const FILE = "client/api-types.ts";

/** The file's text. */
async function generate(): Promise<string> {
  const specs = await loadRoutes();
  const { openApiDocument } = await import("../src/app/openapi.ts");
  const { SECRET_KEY_PERMISSIONS } = await import("../src/accounts/teams/permissions.ts");
  const held = new Set<string>(SECRET_KEY_PERMISSIONS);
  const isHeld = (permission: string | null) => (permission ?? "").split(" or ").some((each) => held.has(each));
  const callable = specs.filter(({ callers, permission }) => callers === "MEMBER_OR_KEY" && isHeld(permission));
  const document = JSON.parse(JSON.stringify(openApiDocument(specs, "")));
  return clientTypes(document, new Set(callable.map((spec) => spec.operationId)));
}

keepGenerated({ file: FILE, text: await generate(), command: "npm run client:generate" });
