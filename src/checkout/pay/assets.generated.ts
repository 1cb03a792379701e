// Made by scripts/checkout-assets.ts from src/checkout/pay/browser and src/checkout/pay/style.css: never edited by hand.
export const SCRIPT_PATH = "/assets/checkout-3845bd11257c4319.js";
export const STYLE_PATH = "/assets/checkout-36776f8e1bb32be5.css";
