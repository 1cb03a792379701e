// Makes a merchant with a secret and a public key for a deployment: SQL on standard output, the keys on standard error, once.
//   node scripts/create-merchant.ts "My shop" > .edgetill/merchant.sql
import { insertSql, newKey, newMerchant } from "./seed.ts";

const LONGEST_NAME = 200;

const [given = "", ...rest] = process.argv.slice(2);
const name = given.trim();
if (name === "" || rest.length > 0) {
  stop('Usage: node scripts/create-merchant.ts "Name of the merchant" > .edgetill/merchant.sql');
}
if ([...name].length > LONGEST_NAME)
  stop(`A merchant's name has at most ${LONGEST_NAME} characters; nothing was made.`);

const nowMs = Date.now();
const merchant = newMerchant(name, nowMs);
const secret = newKey(merchant.id, "SECRET", nowMs, { name: "Secret key" });
const open = newKey(merchant.id, "PUBLIC", nowMs, { name: "Public key" });
process.stdout.write(insertSql({ merchants: [merchant], apiKeys: [secret.row, open.row] }));
console.error(`Merchant   ${merchant.id}
Secret key ${secret.secret}
Public key ${open.secret}
Keep the secret key now: it is shown this once, and the SQL holds only its hash.
Next: run the SQL on the database of the deployment (README "Deploy to Cloudflare").`);

function stop(message: string): never {
  console.error(message);
  process.exit(1);
}
