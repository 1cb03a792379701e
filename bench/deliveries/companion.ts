// Starts a helper process and sends it requests: any number at a time, each with its own answer.
import { fork } from "node:child_process";
import { join } from "node:path";
import type { Envelope } from "./messages.ts";

interface Companion<Question, Answer> {
  /** Throws if the process ends, reports a failure, or does not answer in time. */
  readonly ask: (question: Question) => Promise<Answer>;
  readonly stop: () => void;
}

type Reply<Answer> = { readonly answer: Answer } | { readonly failed: string };

const ANSWERS_WITHIN_MS = 60_000;

/** `file`: the path of the helper's file, relative to this one. */
export function startCompanion<Question, Answer>(file: string): Companion<Question, Answer> {
  const child = fork(join(import.meta.dirname, file), [], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const waiting = new Map<number, (reply: Reply<Answer>) => void>();
  child.on("message", ({ call, content }: Envelope<Reply<Answer>>) => {
    waiting.get(call)?.(content);
    waiting.delete(call);
  });
  child.on("exit", (code) => {
    for (const settle of waiting.values()) settle({ failed: `${file} ended with ${code}` });
  });
  let calls = 0;
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        const call = calls++;
        const timer = setTimeout(() => reject(new Error(`${file}: no answer in time`)), ANSWERS_WITHIN_MS);
        waiting.set(call, (reply) => {
          clearTimeout(timer);
          if ("failed" in reply) reject(new Error(reply.failed));
          else resolve(reply.answer);
        });
        child.send({ call, content: question } satisfies Envelope<Question>);
      }),
    stop: () => void child.kill(),
  };
}

/** Runs in the helper process: answers each request, and exits together with its parent. */
export function answerQuestions<Question, Answer>(answer: (question: Question) => Promise<Answer>): void {
  process.on("disconnect", () => process.exit());
  process.on("message", ({ call, content }: Envelope<Question>) => {
    const reply = (content: Reply<Answer>) => void process.send?.({ call, content } satisfies Envelope<Reply<Answer>>);
    answer(content).then(
      (answer) => reply({ answer }),
      (error: Error) => reply({ failed: error.message }),
    );
  });
}
