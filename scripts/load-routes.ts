// Loads the Worker's routes in Node, for generators: no server is needed.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { makeMcpLibrary } from "./mcp-library.ts";
import { TEXT_FILE, textModule } from "./text-modules.ts";

/** A stand-in for the runtime's module: importing the routes requires only a class to extend. */
const RUNTIME =
  "data:text/javascript,export class DurableObject { constructor(ctx, env) { Object.assign(this, { ctx, env }); } } export const env = {};";

export async function loadRoutes() {
  const { SPECS } = await loadAllRoutes();
  return SPECS;
}

/** Also loads BTCPay Server's routes, which are not in our own reference. */
export async function loadAllRoutes() {
  await replaceRuntime();
  const { GREENFIELD_SPECS, SPECS } = await import("../src/app/app.ts");
  return { GREENFIELD_SPECS, SPECS };
}

/** After this, Node can load the Worker's modules. */
export async function replaceRuntime(): Promise<void> {
  await makeMcpLibrary();
  registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === "cloudflare:workers") return { url: RUNTIME, shortCircuit: true };
      return next(specifier, context);
    },
    load: (url, context, next) => {
      const source = sourceOf(url);
      return source === undefined ? next(url, context) : { format: "module", source, shortCircuit: true };
    },
  });
}

/** Compiles files that Node cannot load itself: Node strips types but does not compile JSX. */
function sourceOf(url: string): string | undefined {
  if (TEXT_FILE.test(url)) return textModule(fileURLToPath(url));
  return url.endsWith(".tsx") ? javascriptOf(fileURLToPath(url)) : undefined;
}

function javascriptOf(file: string): string {
  const { code } = transformSync(readFileSync(file, "utf8"), {
    loader: "tsx",
    jsx: "automatic",
    jsxImportSource: "hono/jsx",
  });
  return code;
}
