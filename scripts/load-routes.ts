// The routes of the Worker in Node, for what is made from them: no server is asked.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { TEXT_FILE, textModule } from "./text-modules.ts";

/** The runtime's own module, of which importing the routes needs no more than a class to extend. */
const RUNTIME =
  "data:text/javascript,export class DurableObject { constructor(ctx, env) { Object.assign(this, { ctx, env }); } } export const env = {};";

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
      return next(specifier, context);
    },
    load: (url, context, next) => {
      const source = sourceOf(url);
      return source === undefined ? next(url, context) : { format: "module", source, shortCircuit: true };
    },
  });
}

/** What Node does not read by itself: it takes types away, but no JSX. */
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
