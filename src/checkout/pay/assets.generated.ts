// Made by scripts/checkout-assets.ts from src/checkout/pay/browser: never edited by hand.
export const SCRIPT_PATH = "/assets/checkout-3845bd11257c4319.js";
