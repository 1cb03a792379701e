import type { Keyring } from "../../lib/keyring.ts";
import { unseal } from "../../lib/seal.ts";
import { secretContext, type WebhookSecret } from "./webhook.ts";

/** The secrets in the clear, in the same order. Throws when one does not open: its key is gone, or the row was altered. */
export async function openSecrets(
  keys: Keyring,
  secrets: readonly Pick<WebhookSecret, "id" | "sealed">[],
): Promise<readonly string[]> {
  const opened = secrets.map(async ({ id, sealed }) => {
    const secret = await unseal(keys, secretContext(id), sealed);
    if (secret === undefined) throw new Error(`the webhook secret ${id} does not open`);
    return secret;
  });
  return Promise.all(opened);
}
