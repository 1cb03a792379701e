/** Collects log lines of this level while the work runs, for an oracle of what an operator reads. None are printed. */
export async function saidWhile(level: "error" | "warn", work: () => Promise<unknown>): Promise<readonly string[]> {
  const said: string[] = [];
  // biome-ignore lint/suspicious/noConsole: the log writes to it
  const before = console[level];
  console[level] = (line: unknown) => void said.push(String(line));
  try {
    await work();
  } finally {
    console[level] = before;
  }
  return said;
}
