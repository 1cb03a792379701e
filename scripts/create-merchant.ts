// Makes a merchant with a secret and a public key for a deployment: SQL on standard output, the keys on standard error, once.
//   node scripts/create-merchant.ts "My shop" > merchant.sql
import { insertSql, newKey, newMerchant } from "./seed.ts";

const [name, ...rest] = process.argv.slice(2);
if (name === undefined || name === "" || rest.length > 0) {
  console.error('Usage: node scripts/create-merchant.ts "Name of the merchant" > merchant.sql');
  process.exit(1);
}

const nowMs = Date.now();
const merchant = newMerchant(name, nowMs);
const secret = newKey(merchant.id, "SECRET", nowMs, { name: "Secret key" });
const open = newKey(merchant.id, "PUBLIC", nowMs, { name: "Public key" });
process.stdout.write(insertSql({ merchants: [merchant], apiKeys: [secret.row, open.row] }));
console.error(`Merchant   ${merchant.id}
Secret key ${secret.secret}
Public key ${open.secret}
Keep the secret key now: it is shown this once, and the SQL holds only its hash.
Next: npx wrangler d1 execute DB --remote --file merchant.sql`);
