// A call that was refused because the user gave no recent factor waits here: the dialog (shell/step-up-dialog.tsx) asks the user, and then the call
// continues.
import { StepUpCancelled } from "./errors.ts";

type Listener = () => void;

interface Waiting {
  readonly proven: () => void;
  readonly cancelled: (reason: StepUpCancelled) => void;
}

let waiting: readonly Waiting[] = [];
const listeners = new Set<Listener>();

export const stepUp = {
  isAsked: () => waiting.length > 0,
  subscribe(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  /** Resolves once the user has given a factor; rejects with StepUpCancelled when they close the dialog. */
  ask(): Promise<void> {
    return new Promise((proven, cancelled) => become([...waiting, { proven, cancelled }]));
  },
  succeed() {
    const all = waiting;
    become([]);
    for (const { proven } of all) proven();
  },
  cancel() {
    const all = waiting;
    become([]);
    for (const { cancelled } of all) cancelled(new StepUpCancelled("the identity was not confirmed"));
  },
};

function become(next: readonly Waiting[]): void {
  waiting = next;
  for (const listener of listeners) listener();
}
