import { fill } from "../../platform/texts/texts.ts";
import type { Chrome } from "./chrome.ts";
import type { Note } from "./note.ts";
import { Field, payLink } from "./parts.tsx";
import type { CheckoutView } from "./view.ts";

/**
 * The form "I have paid": takes the hash of a transaction, so that it is checked sooner. The form is open if the page shows a claim, or the reason
 * why a claim was refused.
 */
export function ClaimForm(of: {
  readonly chrome: Chrome;
  readonly view: CheckoutView;
  readonly note: Note | null;
  /** The label that opens and closes the form. */
  readonly title: string;
}) {
  const { chrome, view, note } = of;
  const { texts } = chrome;
  const [first] = view.claimNetworks;
  if (first === undefined) return null;
  return (
    <details class="claim" open={note?.startsWith("claim-") === true || view.claim !== null}>
      <summary>{of.title}</summary>
      <form method="post" action={payLink(chrome, view, "/claims")}>
        <p>{texts.claim}</p>
        {view.claimNetworks.length === 1 ? (
          <input type="hidden" name="network" value={first.network} />
        ) : (
          <Networks chrome={chrome} view={view} />
        )}
        <Field
          id="claim-hash"
          name="txHash"
          label={texts.claimHash}
          hint={texts.claimHashHint}
          error={note === "claim-invalid" ? fill(texts.claimInvalid, { network: networkNames(view) }) : undefined}
          maxlength={100}
          isRequired
          isCode
        />
        <button type="submit" class="second">
          {texts.claimSend}
        </button>
      </form>
    </details>
  );
}

function Networks({ chrome, view }: { readonly chrome: Chrome; readonly view: CheckoutView }) {
  return (
    <p class="field">
      <label for="claim-network">{chrome.texts.network}</label>
      <select id="claim-network" name="network" autocomplete="off">
        {view.claimNetworks.map(({ network, networkName }) => (
          <option value={network} selected={network === view.method?.network}>
            {networkName}
          </option>
        ))}
      </select>
    </p>
  );
}

export function networkNames({ claimNetworks }: CheckoutView): string {
  return claimNetworks.map(({ networkName }) => networkName).join(", ");
}
