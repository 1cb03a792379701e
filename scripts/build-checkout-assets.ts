// Writes src/checkout/pay/assets.generated.ts: the one script of the payers' pages, bundled, and their style, both minified (`npm run
// checkout:build`); with --check it only says whether the file is what it would write.
import { createHash } from "node:crypto";
import { build } from "esbuild";
import { keepGenerated } from "./generated-file.ts";

const FILE = "src/checkout/pay/assets.generated.ts";
/** Of SHA-256: enough that no two scripts share a name, which browsers keep for a year. */
const HASH_LENGTH = 16;

async function minified(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    // The page is sent as UTF-8, and an escape is longer.
    charset: "utf8",
    logLevel: "silent",
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild wrote nothing for ${file}`);
  return output.text.trim();
}

async function generate(): Promise<string> {
  const script = await minified("src/checkout/pay/browser/main.ts");
  const style = await minified("src/checkout/pay/style.css");
  // It stands inside an element of the page, which nothing in it may end.
  if (style.includes("</")) throw new Error("the style would end its element");
  const hash = createHash("sha256").update(script).digest("hex").slice(0, HASH_LENGTH);
  const lines = [
    "// Made by scripts/build-checkout-assets.ts from src/checkout/pay/browser and src/checkout/pay/style.css: never edited by hand.",
    "// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates are the script's.",
    `export const SCRIPT = ${JSON.stringify(script)};`,
    "/** Path under which the script is served, with its hash. */",
    `export const SCRIPT_PATH = "/assets/checkout-${hash}.js";`,
    `export const STYLE = ${JSON.stringify(style)};`,
  ];
  return `${lines.join("\n")}\n`;
}

keepGenerated({ file: FILE, text: await generate(), command: "npm run checkout:build" });
