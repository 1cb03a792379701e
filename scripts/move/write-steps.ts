// Writes a move's steps through Edgetill's own API, one after the other, and checks each wallet by the addresses that it shows.
import { type Edgetill, EdgetillError } from "../../client/edgetill.ts";
import { plainText } from "../../src/lib/plain-text.ts";
import { MoveError } from "./move-error.ts";
import { idempotencyKeyOf, lineOf, type Step } from "./steps.ts";
import type { WantedWallet } from "./wanted.ts";

interface Written {
  readonly made: number;
  /** Lines about steps that the server refused. */
  readonly refused: readonly string[];
}

/** Statuses that refuse a single step: the other steps may still be written. Any other error ends the run, and a second run continues. */
const REFUSALS = [400, 409, 413, 422];

export async function writeSteps(
  edgetill: Edgetill,
  steps: readonly Step[],
  print: (line: string) => void,
): Promise<Written> {
  const refused: string[] = [];
  for (const step of steps) {
    try {
      await writeStep(edgetill, step, print);
    } catch (error) {
      if (error instanceof MoveError) throw error;
      const why = plainText(error instanceof Error ? error.message : String(error));
      if (!(error instanceof EdgetillError) || !REFUSALS.includes(error.status)) {
        throw new MoveError(
          `${lineOf(step)}: ${why}\nThe move is not finished. Run the same command again: it goes on where this one ended.`,
        );
      }
      refused.push(`${lineOf(step)}: ${why}`);
    }
  }
  return { made: steps.length - refused.length, refused };
}

async function writeStep(edgetill: Edgetill, step: Step, print: (line: string) => void): Promise<void> {
  const once = { idempotencyKey: idempotencyKeyOf(step) };
  switch (step.kind) {
    case "wallet": {
      const { id } = await edgetill.wallets.register(step.wallet.body, once);
      await compareAddresses(edgetill, id, step.wallet);
      break;
    }
    case "webhook": {
      const { id, url, secret } = await edgetill.webhooks.create(step.body, once);
      // A secret that the operator supplied is not printed.
      if (step.body.secret === undefined) print(`  secret of ${plainText(url)} (${id}), shown only now: ${secret}`);
      break;
    }
    case "product":
      await edgetill.products.create(step.body, once);
      break;
    case "customer":
      await edgetill.customers.upsert(step.body, once);
      break;
    case "settings":
      await edgetill.settings.update(step.body);
      break;
  }
  print(`made ${lineOf(step)}`);
}

/** Disables a wallet if its addresses differ from those compared before, because its owner could not spend payments to them. */
async function compareAddresses(edgetill: Edgetill, walletId: string, { addresses }: WantedWallet): Promise<void> {
  if (addresses.length === 0) return;
  const shown = await addressesOf(edgetill, walletId, addresses.length);
  if (addresses.every((address, index) => shown[index] === address)) return;
  await edgetill.wallets.update(walletId, { isEnabled: false });
  throw new MoveError(`The wallet ${walletId} shows other addresses than were compared. It is disabled: delete it.`);
}

async function addressesOf(edgetill: Edgetill, walletId: string, count: number): Promise<readonly string[]> {
  try {
    const { data } = await edgetill.wallets.previewAddresses(walletId, { from: 0, count });
    return data.map(({ address }) => address);
  } catch (error) {
    if (!(error instanceof EdgetillError) || error.status !== 404) throw error;
    throw new MoveError(
      `The wallet ${walletId} was made by an earlier run and deleted since. Edgetill remembers what it answered for 24 hours: run this again after that, or register the wallet in the console.`,
    );
  }
}
