import { type Keyring, parseKeyring } from "../../src/lib/keyring.ts";

/** The keys in a setting that has API_KEY_MAC_KEY's form; throws if malformed. */
export function keyringOf(setting: string | undefined): Keyring {
  const keys = parseKeyring("TEST_KEYRING", setting);
  if (!keys.ok) throw new Error(keys.error);
  return keys.value;
}
