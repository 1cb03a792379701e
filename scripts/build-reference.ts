// Writes src/app/reference.generated.ts: /openapi.json and /docs as the Worker sends them (`npm run reference:build`); with --check it only
// says whether the file is what it would write. Made for each request, they took a Worker's only thread for hundreds of milliseconds.
import { createHash } from "node:crypto";
import { keepGenerated } from "./generated-file.ts";
import { loadRoutes } from "./load-routes.ts";

const FILE = "src/app/reference.generated.ts";
/** Of SHA-256: enough that no two versions share a tag. */
const HASH_LENGTH = 16;

async function generate(): Promise<string> {
  const specs = await loadRoutes();
  const { openApiDocument } = await import("../src/app/openapi.ts");
  const { docsPage } = await import("../src/app/docs.ts");
  const openApi = JSON.stringify(openApiDocument(specs, ""));
  const docs = String(await docsPage(specs));
  const hash = createHash("sha256").update(openApi).update(docs).digest("hex").slice(0, HASH_LENGTH);
  const lines = [
    "// Made by scripts/build-reference.ts from the routes: never edited by hand.",
    `export const HASH = "${hash}";`,
    "/** For a deployment whose origin is not known. */",
    `export const OPENAPI = ${inLines(openApi, /(?<=\},)(?="(?:\/|components"|(?!RateLimit)[A-Z]\w+":\{))/)};`,
    `export const DOCS = ${inLines(docs, /(?=<section)/)};`,
  ];
  return `${lines.join("\n")}\n`;
}

/** An expression of the text in one line for each part between borders of no width, so that a change of one route is a change of few lines. */
function inLines(text: string, border: RegExp): string {
  const lines = text.split(border).map((part) => `  ${JSON.stringify(part)},`);
  return `[\n${lines.join("\n")}\n].join("")`;
}

keepGenerated({ file: FILE, text: await generate(), command: "npm run reference:build", isFormatted: true });
