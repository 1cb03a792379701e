// Every table with rows that are encrypted or signed with keys of the deployment, and the keys themselves, for the job that renews the rows.
import { TOTP_ROWS } from "../../accounts/totp/totp-rows.ts";
import { publicHalf } from "../../checkout/signed-redirect/sign-return.ts";
import { signingKeysOf } from "../../checkout/signed-redirect/signing-key.ts";
import { METHOD_ROWS } from "../../commerce/payment-methods/method-rows.ts";
import { WALLET_ROWS } from "../../commerce/wallet-records/wallet-rows.ts";
import { freezeWallets } from "../../commerce/wallets/freeze-wallet.ts";
import { newOperationId } from "../../lib/ids.ts";
import type { Keyring } from "../../lib/keyring.ts";
import { logAlert } from "../../lib/log.ts";
import type { Result } from "../../lib/result.ts";
import { WEBHOOK_SECRET_ROWS } from "../../notifications/webhooks/secret-rows.ts";
import type { Db } from "../../platform/db/client.ts";
import { type Keyrings, PEPPER_ROWS, SIGNING_KEY_ROWS } from "../../platform/keys/deployment-key.ts";
import type { KeyedRows } from "../../platform/keys/keyed-rows.ts";
import { isSet, KEYRING_NAMES, type KeyringName, type KeySettings, keyringOf } from "../../platform/keys/keyrings.ts";
import type { UseDependencies } from "../../platform/keys/read-keys.ts";
import type { RotateDependencies } from "../../platform/keys/rotate-keys.ts";

export const KEYED_ROWS: readonly KeyedRows[] = [
  WALLET_ROWS,
  METHOD_ROWS,
  SIGNING_KEY_ROWS,
  WEBHOOK_SECRET_ROWS,
  TOTP_ROWS,
  PEPPER_ROWS,
];

interface Given {
  readonly db: Db;
  readonly nowMs: number;
}

export function rotateDependencies(settings: KeySettings, { db, nowMs }: Given): RotateDependencies {
  const rings = keyringsOf(settings);
  const { ROW_MAC_KEY: macKeys } = rings;
  return {
    db,
    nowMs,
    rings,
    kinds: KEYED_ROWS,
    publicKeyOf: publicHalf,
    report: logAlert,
    freeze: async (ids) => {
      if (macKeys !== undefined) await freezeWallets({ db, macKeys, nowMs, newOperationId }, ids);
    },
  };
}

/** For `readKeys`, which reports when a key may be removed. */
export function useDependencies(settings: KeySettings, given: Given): UseDependencies {
  const explicit = new Set(KEYRING_NAMES.filter((name) => isSet(settings[name])));
  return { ...given, rings: keyringsOf(settings), explicit, kinds: KEYED_ROWS };
}

/** The keyrings that are valid; `/healthz` reports the others. */
function keyringsOf(settings: KeySettings): Keyrings {
  const entries = KEYRING_NAMES.flatMap((name): [KeyringName, Keyring][] => {
    const ring: Result<Keyring, string> = name === "SIGNING_KEY" ? signingKeysOf(settings) : keyringOf(settings, name);
    return ring.ok ? [[name, ring.value]] : [];
  });
  return Object.fromEntries(entries);
}
