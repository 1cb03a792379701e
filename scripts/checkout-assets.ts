// Bundles and minifies the script and the style of the payers' pages, and the script that BTCPay Server plugins use to show them. The pages' script
// is a static asset whose name changes with its content. The style is inside each page, so the first view needs no further request.
// src/checkout/pay keeps what the Worker needs: the name of the pages' script and, as a text module, the style.
import { createHash } from "node:crypto";
import { build } from "esbuild";
import { keepGenerated } from "./generated-file.ts";

const NAME_FILE = "src/checkout/pay/assets.generated.ts";
const STYLE_FILE = "src/checkout/pay/style.generated.txt";
const COMMAND = "npm run assets:build";
/** The comment at the top of the script that shops load. */
const MODAL_NOTICE =
  "/* Shows the payer's page over a page of a shop. Its messages are never a proof of payment: believe a webhook, or the invoice as your server reads it. */";
/** Digits of the SHA-256: enough for distinct names, which matter because browsers cache the files for a year. */
const HASH_LENGTH = 16;

interface CheckoutAssets {
  readonly script: string;
  readonly style: string;
  /** Served at MODAL_PATH. */
  readonly modalScript: string;
  /** The path at which `script` is served. */
  readonly scriptPath: string;
}

/** Plugins use this name, so it has no hash. */
export const MODAL_PATH = "/modal/btcpay.js";

export async function checkoutAssets(): Promise<CheckoutAssets> {
  const script = await minified("src/checkout/pay/browser/main.ts");
  const style = await minified("src/checkout/pay/style.css");
  const modalScript = `${MODAL_NOTICE}\n${await minified("src/checkout/pay/browser/btcpay.ts")}`;
  // The style is inside an element of the page and must not end it.
  if (style.includes("</")) throw new Error("the style would end its element");
  return { script, style, modalScript, scriptPath: `/${hashedName("assets/checkout.js", script)}` };
}

/** `checkout.js` becomes `checkout-<hash of the content>.js`. */
export function hashedName(name: string, content: string | Uint8Array): string {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, HASH_LENGTH);
  return name.replace(/(?=\.\w+$)/, `-${hash}`);
}

/** Writes what the Worker needs; with --check only reports whether the files are up to date. */
export function keepForWorker({ scriptPath, style }: CheckoutAssets): void {
  const lines = [
    "// Made by scripts/checkout-assets.ts from src/checkout/pay/browser: never edited by hand.",
    `export const SCRIPT_PATH = "${scriptPath}";`,
  ];
  keepGenerated({ file: NAME_FILE, text: `${lines.join("\n")}\n`, command: COMMAND });
  keepGenerated({ file: STYLE_FILE, text: style, command: COMMAND, isFormatted: true });
}

async function minified(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    // The files are served as UTF-8, and escapes are longer.
    charset: "utf8",
    logLevel: "silent",
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild wrote nothing for ${file}`);
  return output.text.trim();
}

if (import.meta.main) keepForWorker(await checkoutAssets());
