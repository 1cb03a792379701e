import type { Keyring } from "../../lib/keyring.ts";
import { unseal } from "../../lib/seal.ts";
import { secretContext, type WebhookSecret } from "./webhook.ts";

/** The decrypted secrets, in the same order. Throws if one cannot be decrypted: its key is missing, or the row was altered. */
export async function openSecrets(
  keys: Keyring,
  secrets: readonly Pick<WebhookSecret, "id" | "sealed">[],
): Promise<readonly string[]> {
  const opened = secrets.map(async ({ id, sealed }) => {
    const secret = await unseal(keys, secretContext(id), sealed);
    if (secret === undefined) throw new Error(`the webhook secret ${id} cannot be decrypted`);
    return secret;
  });
  return Promise.all(opened);
}
