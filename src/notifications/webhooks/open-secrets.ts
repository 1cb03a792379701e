import type { Keyring } from "../../lib/keyring.ts";
import { unseal } from "../../lib/seal.ts";
import { secretContext, type WebhookSecret } from "./webhook.ts";

/**
 * The decrypted secrets, in the given order, newest first. Throws if the newest cannot be decrypted: its key is missing, or the row was altered. An
 * older secret that cannot be decrypted is left out: the endpoint has a newer one, and its deliveries must not wait a day until the older one
 * expires.
 */
export async function openSecrets(
  keys: Keyring,
  secrets: readonly Pick<WebhookSecret, "id" | "sealed">[],
): Promise<readonly string[]> {
  const opened = await Promise.all(secrets.map(({ id, sealed }) => unseal(keys, secretContext(id), sealed)));
  if (opened[0] === undefined) throw new Error(`the secret ${secrets[0]?.id} cannot be decrypted`);
  return opened.filter((secret) => secret !== undefined);
}
