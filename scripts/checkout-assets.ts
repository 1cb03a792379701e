// The script and the style of the payers' pages, bundled and minified, under names that change with their content. The names are kept in
// src/checkout/pay/assets.generated.ts, for the pages that link to them.
import { createHash } from "node:crypto";
import { build } from "esbuild";
import { keepGenerated } from "./generated-file.ts";

const NAMES_FILE = "src/checkout/pay/assets.generated.ts";
/** Of SHA-256: enough that no two files share a name, which browsers keep for a year. */
const HASH_LENGTH = 16;

export interface CheckoutAssets {
  readonly script: string;
  readonly style: string;
  /** Paths under which they are served. */
  readonly scriptPath: string;
  readonly stylePath: string;
}

export async function checkoutAssets(): Promise<CheckoutAssets> {
  const script = await minified("src/checkout/pay/browser/main.ts");
  const style = await minified("src/checkout/pay/style.css");
  return {
    script,
    style,
    scriptPath: `/${hashedName("assets/checkout.js", script)}`,
    stylePath: `/${hashedName("assets/checkout.css", style)}`,
  };
}

/** `checkout.js` is `checkout-<hash of the content>.js`. */
export function hashedName(name: string, content: string | Uint8Array): string {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, HASH_LENGTH);
  return name.replace(/(?=\.\w+$)/, `-${hash}`);
}

/** Writes the names where the pages read them; with --check it only says whether the file is what it would write. */
export function keepNames({ scriptPath, stylePath }: CheckoutAssets): void {
  const lines = [
    "// Made by scripts/checkout-assets.ts from src/checkout/pay/browser and src/checkout/pay/style.css: never edited by hand.",
    `export const SCRIPT_PATH = "${scriptPath}";`,
    `export const STYLE_PATH = "${stylePath}";`,
  ];
  keepGenerated({ file: NAMES_FILE, text: `${lines.join("\n")}\n`, command: "npm run assets:build" });
}

async function minified(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    // They are served as UTF-8, and an escape is longer.
    charset: "utf8",
    logLevel: "silent",
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild wrote nothing for ${file}`);
  return output.text.trim();
}

if (import.meta.main) keepNames(await checkoutAssets());
