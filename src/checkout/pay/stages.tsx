// The content of the card for each stage: a heading that names the state, then the payer's next step.

import type { Child } from "hono/jsx";
import { moneyText, timeText } from "../../platform/texts/format.ts";
import { ChooseStage } from "./choose-stage.tsx";
import type { Chrome } from "./chrome.ts";
import { ClaimForm } from "./claim-form.tsx";
import { ExchangeHelp, Hints, MethodPanel } from "./method-panel.tsx";
import type { MethodView } from "./method-view.ts";
import type { Note } from "./note.ts";
import { Filled, payLink, shopLink, shownQuery } from "./parts.tsx";
import { PaymentsList } from "./payments-list.tsx";
import { ReturnLinks } from "./return-links.tsx";
import { isToDecide, stageTitle } from "./stage-title.ts";
import type { CheckoutView } from "./view.ts";

interface StageOf {
  readonly chrome: Chrome;
  readonly view: CheckoutView;
  readonly note: Note | null;
}

export function StageCard(of: StageOf) {
  switch (of.view.stage) {
    case "choose":
      return <ChooseStage chrome={of.chrome} view={of.view} />;
    case "pay":
    case "partial":
      return <PayStage {...of} />;
    case "underpaid":
      return <UnderpaidStage {...of} />;
    case "unavailable":
    case "checking":
    case "seen":
    case "paid":
    case "overpaid":
    case "expired":
    case "cancelled":
      return <NoticeStage {...of} />;
  }
}

function PayStage(of: StageOf) {
  const { chrome, view } = of;
  const { method } = view;
  if (method === null) return <NoticeStage {...of} />;
  if (isToDecide(view)) return <UndecidedStage {...of} method={method} />;
  return (
    <>
      <Heading {...of} />
      <MethodPanel chrome={chrome} view={view} method={method} hasDeadline />
      <PaymentsList chrome={chrome} view={view} />
      <p class="waiting">
        <span>{chrome.texts.waiting}</span> <small>{chrome.texts.needsTime}</small>
      </p>
      <Reload {...of} />
      <Hints chrome={chrome} view={view} method={method} />
      <ExchangeHelp chrome={chrome} method={method} />
      <ClaimForm {...of} title={chrome.texts.claimOpen} />
    </>
  );
}

/** The merchant decides first about what arrived. What to send is folded, for a payer to whom that payment does not belong. */
function UndecidedStage(of: StageOf & { readonly method: MethodView }) {
  const { chrome } = of;
  return (
    <>
      <Heading {...of} />
      <PaymentsList {...of} />
      <p class="hint">{chrome.texts.needsTime}</p>
      <Reload {...of} />
      <Again chrome={chrome}>
        <MethodPanel {...of} hasDeadline />
        <Hints {...of} />
        <ExchangeHelp {...of} />
      </Again>
      <ClaimForm {...of} title={chrome.texts.claimOpen} />
    </>
  );
}

function Again({ chrome, children }: { readonly chrome: Chrome; readonly children?: Child }) {
  return (
    <details class="again">
      <summary>{chrome.texts.payAnyway}</summary>
      {children}
    </details>
  );
}

/** Too little was paid before the invoice expired: the rest can be paid if the shop accepts it. */
function UnderpaidStage(of: StageOf) {
  const { chrome, view } = of;
  const { method } = view;
  const isOpen = view.acceptsLate && view.isMonitored && method !== null;
  const rest = isOpen ? (
    <>
      <p>
        <Filled text={chrome.texts.underpaidAccept} values={{ time: timeText(chrome.language, view.monitorUntilMs) }} />
      </p>
      <MethodPanel chrome={chrome} view={view} method={method} hasDeadline={false} />
    </>
  ) : (
    <p>
      <Filled text={chrome.texts.underpaidReview} values={{ shop: shopLink(view.shop) }} />
    </p>
  );
  return (
    <>
      <Heading {...of} />
      {isOpen && isToDecide(view) ? <Again chrome={chrome}>{rest}</Again> : rest}
      <PaymentsList chrome={chrome} view={view} />
      <ClaimForm {...of} title={chrome.texts.claimOpen} />
    </>
  );
}

/** A stage in which there is nothing to send: says what happened, and what to do next. */
function NoticeStage(of: StageOf) {
  const { chrome, view } = of;
  const { stage } = view;
  return (
    <>
      <Heading {...of} />
      {stage === "paid" || stage === "overpaid" ? <ReturnLinks chrome={chrome} view={view} /> : null}
      <PaymentsList chrome={chrome} view={view} />
      {view.pollSeconds > 0 ? <Reload {...of} /> : null}
      {stage === "checking" ? <ClaimForm {...of} title={chrome.texts.claimOpen} /> : null}
      {stage === "expired" ? <ClaimForm {...of} title={chrome.texts.claimTitle} /> : null}
    </>
  );
}

function Heading({ chrome, view }: StageOf) {
  const text = noticeText(chrome, view);
  return (
    <div class={`heading ${view.stage}`} data-part="heading">
      <Mark stage={view.stage} />
      <h1 tabindex={-1}>{stageTitle(chrome.texts, view)}</h1>
      {text === null ? null : (
        <p>
          <Filled
            text={text}
            values={{
              shop: view.stage === "paid" ? view.shop.name : shopLink(view.shop),
              received: moneyText(chrome.language, view.received),
              total: moneyText(chrome.language, view.total),
              missing: moneyText(chrome.language, view.missing),
            }}
          />
        </p>
      )}
    </div>
  );
}

function noticeText({ texts }: Chrome, view: CheckoutView): string | null {
  switch (view.stage) {
    case "choose":
    case "pay":
      return null;
    case "partial":
      return isToDecide(view) ? null : texts.partial;
    case "expired":
      if (view.payments.some(({ isLate }) => isLate)) return texts.expiredLate;
      return isToDecide(view) ? texts.expiredUndecided : texts.expired;
    case "unavailable":
    case "checking":
    case "seen":
    case "paid":
    case "overpaid":
    case "underpaid":
    case "cancelled":
      return texts[view.stage];
  }
}

/** A tick, a spinning ring or a warning sign; hidden from screen readers, because the heading says the same. */
function Mark({ stage }: Pick<CheckoutView, "stage">) {
  const isPaid = stage === "paid" || stage === "overpaid";
  const shape = isPaid ? "M6 12.5l4 4 8-9" : "M12 6.5v7m0 3v.5";
  if (stage === "pay" || stage === "partial") return null;
  if (stage === "seen" || stage === "checking") return <span class="ring" aria-hidden="true" />;
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <path d={shape} />
    </svg>
  );
}

/** The link that reloads the page, for browsers without scripts. */
function Reload({ chrome, view }: StageOf) {
  return (
    <noscript>
      <p>
        <a href={payLink(chrome, view, "", shownQuery(view))}>{chrome.texts.reload}</a>
      </p>
    </noscript>
  );
}
