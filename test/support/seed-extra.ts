// Rows for the access tests, in addition to the demo merchant: a second merchant, and keys that must be refused.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiKeyMacKeys, type Home } from "../../scripts/home.ts";
import { type ApiKeyRow, insertSql, newKey, newMerchant, newTeam } from "../../scripts/seed.ts";
import { executeSqlFile } from "../../scripts/wrangler.ts";
import { keyPermissionName, SECRET_KEY_PERMISSIONS } from "../../src/accounts/roles/permissions.ts";
import { type MerchantId, parseId } from "../../src/lib/ids.ts";
import { HOUR_MS } from "../../src/lib/time.ts";

/** An address from which no test calls (RFC 5737). */
const ELSEWHERE = "203.0.113.7/32";

export interface Extra {
  readonly other: { readonly merchantId: string; readonly secretKey: string };
  /** Secret keys of the demo merchant. All but the first two hold every permission a key may have. */
  readonly keys: {
    readonly noPermissions: string;
    /** The ten `*:view` permissions. */
    readonly viewOnly: string;
    readonly expired: string;
    readonly revoked: string;
    readonly otherIp: string;
  };
}

/** Inserts the rows into the local D1 of `home`; the server must not be running yet. */
export async function seedExtra(home: Home, demoMerchantId: string, nowMs: number): Promise<Extra> {
  const demo = parseId("mer", demoMerchantId);
  if (demo === undefined) throw new Error(`not a merchant's id: ${demoMerchantId}`);
  const other = newMerchant("Another shop", nowMs);
  const macKeys = apiKeyMacKeys(home);
  const key = (merchantId: MerchantId, changes: Partial<ApiKeyRow> = {}) =>
    newKey(macKeys, { merchantId, kind: "SECRET", nowMs }, changes);
  const views = SECRET_KEY_PERMISSIONS.filter((each) => each.endsWith(":view")).map(keyPermissionName);
  const made = {
    other: key(other.id),
    noPermissions: key(demo, { permissions: "[]" }),
    viewOnly: key(demo, { permissions: JSON.stringify(views) }),
    expired: key(demo, { expiresAtMs: nowMs - HOUR_MS }),
    revoked: key(demo, { revokedAtMs: nowMs - HOUR_MS }),
    otherIp: key(demo, { allowedIps: JSON.stringify([ELSEWHERE]) }),
  };
  const file = join(home.path, "extra.sql");
  writeFileSync(
    file,
    insertSql({
      merchants: [other],
      teams: [newTeam(other)],
      apiKeys: Object.values(made).map(({ row }) => row),
    }),
  );
  executeSqlFile(home, file);
  return {
    other: { merchantId: other.id, secretKey: made.other.secret },
    keys: {
      noPermissions: made.noPermissions.secret,
      viewOnly: made.viewOnly.secret,
      expired: made.expired.secret,
      revoked: made.revoked.secret,
      otherIp: made.otherIp.secret,
    },
  };
}
