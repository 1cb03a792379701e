// Made by scripts/build-checkout-assets.ts from src/checkout/browser and src/checkout/style.css: never edited by hand.
export const SCRIPT = "";
/** Path under which the script is served, with its hash. */
export const SCRIPT_PATH = "/assets/checkout-0.js";
export const STYLE = "";
