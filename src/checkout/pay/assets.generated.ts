// Made by scripts/checkout-assets.ts from src/checkout/pay/browser: never edited by hand.
export const SCRIPT_PATH = "/assets/checkout-30200682cf74e3f4.js";
