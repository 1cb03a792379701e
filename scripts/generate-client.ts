// Writes client/api-types.ts from the OpenAPI document (`npm run client:generate`); with --check it only says whether the file is what it
// would write. The document is built here, from the routes themselves: no server is asked.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { clientTypes } from "./client-types.ts";
import { keepGenerated } from "./generated-file.ts";

const FILE = "client/api-types.ts";
/** The runtime's own module, of which importing the routes needs no more than a class to extend. */
const RUNTIME = "data:text/javascript,export class DurableObject {} export const env = {};";

/** The file's text. */
async function generate(): Promise<string> {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "cloudflare:workers" ? { url: RUNTIME, shortCircuit: true } : next(specifier, context),
    // Node takes types away, but no JSX.
    load: (url, context, next) =>
      url.endsWith(".tsx")
        ? { format: "module", source: javascriptOf(fileURLToPath(url)), shortCircuit: true }
        : next(url, context),
  });
  const { SPECS } = await import("../src/http/app.ts");
  const { openApiDocument } = await import("../src/http/openapi.ts");
  const { SECRET_KEY_PERMISSIONS } = await import("../src/teams/permissions.ts");
  const held = new Set<string | null>(SECRET_KEY_PERMISSIONS);
  const callable = SPECS.filter(({ callers, permission }) => callers === "MEMBER_OR_KEY" && held.has(permission));
  const document = JSON.parse(JSON.stringify(openApiDocument(SPECS, "")));
  return clientTypes(document, new Set(callable.map((spec) => spec.operationId)));
}

function javascriptOf(file: string): string {
  const { code } = transformSync(readFileSync(file, "utf8"), {
    loader: "tsx",
    jsx: "automatic",
    jsxImportSource: "hono/jsx",
  });
  return code;
}

keepGenerated({ file: FILE, text: await generate(), command: "npm run client:generate" });
