/** Collects the log lines of this level while the work runs, so that a test can check what an operator reads. None of them are printed. */
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
