// The routes of the Worker in Node, for what is made from them: no server is asked.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";

/** The runtime's own module, of which importing the routes needs no more than a class to extend. */
const RUNTIME =
  "data:text/javascript,export class DurableObject { constructor(ctx, env) { Object.assign(this, { ctx, env }); } } export const env = {};";
/** What is made from the routes is not needed to load them, so that a copy that a merge has broken can be made anew. */
const REFERENCE = "data:text/javascript,export const HASH = '', OPENAPI = '', DOCS = '';";

export async function loadRoutes() {
  replaceRuntime();
  const { SPECS } = await import("../src/app/app.ts");
  return SPECS;
}

/** Lets Node load the modules of the Worker from here on. */
export function replaceRuntime(): void {
  registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === "cloudflare:workers") return { url: RUNTIME, shortCircuit: true };
      if (specifier.endsWith("/reference.generated.ts")) return { url: REFERENCE, shortCircuit: true };
      return next(specifier, context);
    },
    // Node takes types away, but no JSX.
    load: (url, context, next) =>
      url.endsWith(".tsx")
        ? { format: "module", source: javascriptOf(fileURLToPath(url)), shortCircuit: true }
        : next(url, context),
  });
}

function javascriptOf(file: string): string {
  const { code } = transformSync(readFileSync(file, "utf8"), {
    loader: "tsx",
    jsx: "automatic",
    jsxImportSource: "hono/jsx",
  });
  return code;
}
