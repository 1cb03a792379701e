// `npm run move`: moves a shop into Edgetill from BTCPay Server, or from another server that implements this interface (docs/guides/moving-in.md).
import { ask } from "./move/ask.ts";
import { move } from "./move/run.ts";

const { stdin, stdout } = process;
const terminal = { input: stdin, output: stdout };
// If the reader of the output ends early, as with `| head`, the move must not stop halfway.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});
const hasTerminal = stdin.isTTY === true && stdout.isTTY === true;

process.exitCode = await move(process.argv.slice(2), {
  environment: process.env,
  print: (line) => void stdout.write(`${line}\n`),
  ask: hasTerminal ? (question) => ask(terminal, question, true) : undefined,
  askSecret: hasTerminal ? (question) => ask(terminal, question, false) : undefined,
});
