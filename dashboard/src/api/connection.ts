// The state of the connection to the service. Every call reports its outcome, and after a failure the service is polled until it answers.

const ASK_AGAIN_MS = 3_000;

type Listener = () => void;

let isLost = false;
const listeners = new Set<Listener>();

export const connection = {
  isLost: () => isLost,
  subscribe(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  found: () => become(false),
  lost() {
    if (!isLost) setTimeout(askAgain, ASK_AGAIN_MS);
    become(true);
  },
};

function become(next: boolean): void {
  if (next === isLost) return;
  isLost = next;
  for (const listener of listeners) listener();
}

async function askAgain(): Promise<void> {
  try {
    await fetch("/api/v1/auth/methods", { cache: "no-store" });
    become(false);
  } catch {
    setTimeout(askAgain, ASK_AGAIN_MS);
  }
}
