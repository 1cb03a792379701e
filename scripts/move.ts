// `npm run move`: moves a shop into Edgetill from BTCPay Server, or from another server of this interface (docs/guides/moving-in.md).
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { MoveError } from "./move/move-error.ts";
import { move } from "./move/run.ts";

const hasTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;

function ask(question: string, isShown: boolean): Promise<string> {
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      if (isShown) process.stdout.write(chunk);
      done();
    },
  });
  if (!isShown) process.stdout.write(question);
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  return new Promise((resolve, reject) => {
    terminal.once("close", () => reject(new MoveError("Ended without an answer.")));
    terminal.question(isShown ? question : "", (answer) => {
      resolve(answer);
      terminal.close();
      if (!isShown) process.stdout.write("\n");
    });
  });
}

process.exitCode = await move(process.argv.slice(2), {
  environment: process.env,
  print: (line) => void process.stdout.write(`${line}\n`),
  ask: hasTerminal ? (question) => ask(question, true) : undefined,
  askSecret: hasTerminal ? (question) => ask(question, false) : undefined,
});
