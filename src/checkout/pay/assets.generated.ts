// Made by scripts/checkout-assets.ts from src/checkout/pay/browser: never edited by hand.
export const SCRIPT_PATH = "/assets/checkout-fd21d94885d8e727.js";
