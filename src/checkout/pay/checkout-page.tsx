import { fill } from "../../platform/texts/texts.ts";
import type { Chrome } from "./chrome.ts";
import { Document } from "./document.tsx";
import { modalStatus } from "./modal-status.ts";
import type { Note } from "./note.ts";
import { ClaimBanner, claimText, NoteBanner } from "./note-banner.tsx";
import { OrderSummary } from "./order-summary.tsx";
import { Ltr, Moment, payLink, shownQuery } from "./parts.tsx";
import { isToDecide, stageTitle } from "./stage-title.ts";
import { StageCard } from "./stages.tsx";
import type { CheckoutView } from "./view.ts";

interface Of {
  readonly chrome: Chrome;
  readonly view: CheckoutView;
  readonly note: Note | null;
  /** For a page shown from a copy: when the copy was made, in milliseconds since 1970. */
  readonly shownAtMs?: number;
}

/** Reload interval without scripts: long enough to type a hash into the form. */
const RELOAD_SECONDS = 30;

export function checkoutPage(of: Of) {
  const { chrome, view } = of;
  return (
    <Document
      chrome={chrome}
      title={pageTitle(of)}
      shop={view.shop}
      keep={shownQuery(view)}
      refresh={refreshOf(of)}
      small={
        <p>
          {chrome.texts.invoiceId} <Ltr class="code">{view.invoiceId}</Ltr>
        </p>
      }
    >
      {checkoutMain(of)}
    </Document>
  );
}

/** The part that changes while the page is open. */
export function checkoutMain(of: Of) {
  const { chrome, view } = of;
  return (
    <main
      id="checkout"
      data-stage={view.stage}
      data-status={chrome.isModal ? modalStatus(view.stage) : undefined}
      data-stage-text={stageTitle(chrome.texts, view)}
      data-title={pageTitle(of)}
      data-state-url={payLink(chrome, view, "/state", shownQuery(view))}
      data-claim-text={claimText(chrome, view)}
      data-live-url={view.isLive ? `/pay/${view.invoiceId}/live` : undefined}
      data-poll-seconds={view.pollSeconds}
      data-now={chrome.nowMs}
    >
      <StaleNote {...of} />
      {view.isTest ? <p class="note">{chrome.texts.testNetwork}</p> : null}
      <NoteBanner {...of} />
      <ClaimBanner chrome={chrome} view={view} />
      <OrderSummary chrome={chrome} view={view} />
      <div class="card">
        <StageCard {...of} />
      </div>
    </main>
  );
}

/** Always shown on a page from a copy. Otherwise the script shows it while no response arrives, with the time of the last response. */
function StaleNote({ chrome, shownAtMs }: Pick<Of, "chrome" | "shownAtMs">) {
  const [before, after] = chrome.texts.staleSince.split("{time}");
  return (
    <p class="stale note" data-stale={shownAtMs ?? ""} hidden={shownAtMs === undefined}>
      {before}
      {shownAtMs === undefined ? <time /> : <Moment chrome={chrome} ms={shownAtMs} />}
      {after}
    </p>
  );
}

/** After the first event the title begins with the stage, so that the stage is visible in a row of browser tabs. */
function pageTitle({ chrome, view }: Of): string {
  const isToPay = view.stage === "choose" || ((view.stage === "pay" || view.stage === "partial") && !isToDecide(view));
  const pay = fill(chrome.texts.payTo, { shop: view.shop.name });
  return isToPay ? `${pay}: ${view.title}` : `${stageTitle(chrome.texts, view)}: ${view.shop.name}`;
}

/**
 * The reload interval without scripts. There is no reload while the page shows why a form was refused, or if nothing will change. It never redirects
 * to the shop: without the script a payer could not stop that (WCAG 2.2.1), so a payer who has paid returns with the button.
 */
function refreshOf({ view, note }: Of): string | undefined {
  return view.pollSeconds === 0 || view.stage === "choose" || note !== null ? undefined : String(RELOAD_SECONDS);
}
