// Made by scripts/checkout-assets.ts from src/checkout/pay/browser: never edited by hand.
export const SCRIPT_PATH = "/assets/checkout-666c6802d0683d0c.js";
