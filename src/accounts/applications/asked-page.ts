// What the page that asks a person for a key is served with. It is the one page of the console that sends a form, and only to the origin that the person is
// shown.
import { type KeySettings, keyringOf } from "../../platform/keys/keyrings.ts";
import { readQuestion } from "./question.ts";
import { newQuestionToken } from "./question-token.ts";

interface Asked {
  readonly settings: KeySettings<"API_KEY_MAC_KEY">;
  readonly url: string;
  readonly nowMs: number;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** What the page is told, and where its form may go. With a wrong question, and without keys, it asks nothing. */
export function askedPage({ settings, url, nowMs, randomBytes }: Asked) {
  const question = readQuestion(new URL(url).searchParams);
  const keys = keyringOf(settings, "API_KEY_MAC_KEY");
  if (!question.ok || !keys.ok) return {};
  const origin = question.value.redirect?.origin;
  const token = newQuestionToken({ keys: keys.value, origin: origin ?? "", nowMs }, randomBytes);
  return { words: `question=${token}`, formAction: origin };
}
