// Questions at a terminal, of which some answers must not be seen.
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { MoveError } from "./move-error.ts";

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** One line. `isShown` false: what is typed does not appear. Rejects if the input ends. */
export function ask({ input, output }: Terminal, question: string, isShown: boolean): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // First: it switches the terminal's own echo off. A question before it would let a fast answer be seen.
  const lines = createInterface({ input, output: isShown ? output : silent, terminal: true });
  return new Promise((resolve, reject) => {
    lines.once("close", () => reject(new MoveError("Ended without an answer.")));
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
      if (!isShown) output.write("\n");
    });
    if (!isShown) output.write(question);
  });
}
