// A token that identifies a question and the origin to which its page may send the key. The page gets it together with a content policy that names
// the same origin, and returns it with the answer. So a key is never made for an origin other than the one shown, and no question is answered twice.
import { base64urlnopad } from "@scure/base";
import { equalDigests, lengthPrefixed } from "../../lib/bytes.ts";
import { type Keyring, macsOfText, macText } from "../../lib/keyring.ts";
import { MINUTE_MS } from "../../lib/time.ts";

/** Long enough to sign in with a second factor and to read the question. */
export const ANSWERED_WITHIN_MS = 30 * MINUTE_MS;
const RANDOM_BYTES = 16;
const SHAPE = /^([0-9a-z]{1,10})\.([\w-]{22})\.([0-9a-f]{64})$/;

/** `origin`: the origin to which the question is bound; "" if the key is shown to the user. */
interface Binding {
  readonly keys: Keyring;
  readonly origin: string;
  readonly nowMs: number;
}

/** ASCII without spaces: `<end>.<name>.<mac>`. */
export function newQuestionToken({ keys, origin, nowMs }: Binding, randomBytes: (count: number) => Uint8Array): string {
  const end = (nowMs + ANSWERED_WITHIN_MS).toString(36);
  const name = base64urlnopad.encode(randomBytes(RANDOM_BYTES));
  return `${end}.${name}.${macText(keys, subject(end, name, origin)).mac}`;
}

/** The name of the question; undefined if the token is forged, expired, or for another origin. */
export function readQuestionToken({ keys, origin, nowMs }: Binding, token: string): string | undefined {
  const [, end = "", name = "", mac = ""] = SHAPE.exec(token) ?? [];
  const isGenuine = macsOfText(keys, subject(end, name, origin)).some((each) => equalDigests(each, mac));
  return isGenuine && Number.parseInt(end, 36) > nowMs ? name : undefined;
}

function subject(end: string, name: string, origin: string): string {
  return lengthPrefixed(["application-question", end, name, origin]);
}
