// Asks at the terminal for everything that no flag or earlier deploy has answered, until each answer is valid. Gives up after five invalid answers to
// a question.
import type { Result } from "../../src/lib/result.ts";
import {
  DEFAULT_NAME,
  type Given,
  LOCATIONS,
  MAIL_KINDS,
  openQuestions,
  type Question,
  readAnswer,
} from "./answers.ts";
import { DeployError } from "./deploy-error.ts";

/** Returns the line that the operator typed. */
export type Ask = (question: string) => Promise<string>;

const MAX_TRIES = 5;

const places = Object.entries(LOCATIONS).map(([name, text]) => `    ${name}  ${text}`);

const TEXTS: Readonly<Record<Question, string>> = {
  name: `Name of the deployment [${DEFAULT_NAME}]: `,
  location: `Where most of your customers are (the database and the objects are made there, and never move)\n${places.join("\n")}\n  Location: `,
  domain: "Domain, such as pay.example.com (empty for the address at workers.dev): ",
  mail: `How mail is sent (${MAIL_KINDS.join(", ")}; without mail people sign in with passkeys): `,
  mailFrom: 'Sender of mails, such as "Shop payments <pay@example.com>": ',
};

/** An empty line selects the default name. */
export async function askName(ask: Ask): Promise<string> {
  const withDefault: Ask = async (question) => (await ask(question)).trim() || DEFAULT_NAME;
  return (await askOne("name", withDefault)).name ?? DEFAULT_NAME;
}

export async function askOpenQuestions(given: Given, ask: Ask): Promise<Given> {
  let all = given;
  for (let [question] = openQuestions(all); question !== undefined; [question] = openQuestions(all)) {
    all = { ...all, ...(await askOne(question, ask)) };
    if (all.mail === "none") all = { ...all, mailFrom: "" };
  }
  return all;
}

function askOne(question: Question, ask: Ask): Promise<Given> {
  return askUntilValid(ask, TEXTS[question], (text) => readAnswer(question, text));
}

export async function askUntilValid<T>(
  ask: Ask,
  question: string,
  read: (text: string) => Result<T, string>,
): Promise<T> {
  let text = question;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const answer = read(await ask(text));
    if (answer.ok) return answer.value;
    text = `  ${answer.error}: `;
  }
  throw new DeployError("Nothing was made: none of the answers was valid.");
}
