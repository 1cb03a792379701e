// Asks questions at a terminal; some answers must stay hidden.
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { MoveError } from "./move-error.ts";

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Reads one line. If `isShown` is false, typing is not echoed. Rejects if the input ends. */
export function ask({ input, output }: Terminal, question: string, isShown: boolean): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Created before the question is printed, because it switches off the terminal's echo; otherwise a fast answer would be visible.
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
