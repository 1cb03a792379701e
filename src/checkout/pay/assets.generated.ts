// Made by scripts/checkout-assets.ts from src/checkout/pay/browser: never edited by hand.
export const SCRIPT_PATH = "/assets/checkout-763658f9be9539cf.js";
