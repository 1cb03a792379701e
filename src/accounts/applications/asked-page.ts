// The page that asks a user to make a key for an application: its data, and the target of its form. It is the only page of the console that submits a
// form, and only to the origin that the user is shown.
import { type KeySettings, keyringOf } from "../../platform/keys/keyrings.ts";
import { readQuestion } from "./question.ts";
import { newQuestionToken } from "./question-token.ts";

interface Asked {
  readonly settings: KeySettings<"API_KEY_MAC_KEY">;
  readonly url: string;
  readonly nowMs: number;
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * The data for the page, and the origin to which its form may be sent. Both are absent if the question is invalid or no keys are configured. If the
 * key is shown to the user, only the origin is absent.
 */
export function askedPage({ settings, url, nowMs, randomBytes }: Asked) {
  const question = readQuestion(new URL(url).searchParams);
  const keys = keyringOf(settings, "API_KEY_MAC_KEY");
  if (!question.ok || !keys.ok) return {};
  const origin = question.value.redirect?.origin;
  const token = newQuestionToken({ keys: keys.value, origin: origin ?? "", nowMs }, randomBytes);
  return { words: `question=${token}`, formAction: origin };
}
