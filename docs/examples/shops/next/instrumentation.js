// Next.js calls this once, when the server starts.
export function register() {
  const { PORT = "3000", SHOP_URL = `http://127.0.0.1:${PORT}` } = process.env;
  for (const name of ["EDGETILL_KEY", "EDGETILL_MERCHANT", "WEBHOOK_SECRET"])
    if (!process.env[name]) throw new Error(`${name} is not set: docs/guides/shops.md says where it comes from`);
  console.log(`The shop is at ${SHOP_URL}. Next: open it and click Pay with crypto.`);
}
