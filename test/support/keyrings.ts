import { type Keyring, parseKeyring } from "../../src/lib/keyring.ts";

/** The keys of a setting in the form of API_KEY_MAC_KEY; throws if it is malformed. */
export function keyringOf(setting: string | undefined): Keyring {
  const keys = parseKeyring("TEST_KEYRING", setting);
  if (!keys.ok) throw new Error(keys.error);
  return keys.value;
}
