/** Full-jitter exponential backoff: a random wait in [0, min(cap, base × 2^attempt)), `attempt` from 0, `random` in [0, 1). */
export function fullJitterMs(options: { attempt: number; baseMs: number; capMs: number; random: number }): number {
  const ceiling = Math.min(options.capMs, options.baseMs * 2 ** options.attempt);
  return Math.floor(options.random * ceiling);
}
