// The decision that the API recommends, with its reason. The console adds no rules of its own.
import { Alert, Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Invoice, PaymentDetails, Recommendation } from "../api/operations.ts";
import { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";
import type { Decision } from "./decision.tsx";

/** `{amount}` is the missing amount, the amount paid in excess, or the amount that arrived after a cancellation. */
const REASONS: Readonly<Record<Recommendation["reason"], string>> = {
  TOO_LITTLE_CAME: "Too little was paid before the invoice expired: {amount} is missing.",
  REST_IS_ASKED: "The payment page asks the customer for the remaining {amount} and will credit it.",
  LATE_BUT_ENOUGH: "Enough was paid, but after the invoice expired.",
  LATE_AND_TOO_LITTLE: "Money arrived after the invoice expired, and {amount} is missing.",
  MORE_THAN_ASKED: "The customer paid {amount} too much.",
  AFTER_CANCEL: "{amount} arrived after you cancelled the invoice.",
  NOT_CONFIRMED: "The payment is not fully confirmed yet.",
  NO_PRICE: "There is no exchange rate for the payment yet.",
  NETWORK_NOT_READ: "The network has not been read up to the invoice's expiry yet.",
  NOTHING_CAME: "On the networks that could be read, no payment was found before the invoice expired.",
  PAID_ANYWAY: "The invoice is paid. Check the payments, and dismiss the review if they are correct.",
  OWN_ADDRESS: "It was sent to an address that belongs to a single invoice.",
  ONLY_ONE_FITS: "Only one invoice asked for a similar amount at that time.",
  AMOUNT_TELLS: "The amount fits only one of the invoices: it is exactly half or double, or short by a typical fee.",
  CLOSEST_FITS:
    "One invoice asked for nearly this amount or slightly more; the others asked for less, or for very different amounts.",
  SEVERAL_FIT: "Several invoices fit, and nothing shows which one was meant.",
  NONE_FITS: "No invoice asked for a similar amount.",
  NOTHING_DUE: "The matching invoice has nothing left to pay.",
};

const TITLES: Readonly<Record<Recommendation["action"], string>> = {
  ACCEPT: "Recommended: accept as paid",
  ASK_FOR_REST: "Recommended: request the remaining amount",
  RETURN: "Recommended: return the money",
  ASSIGN: "Recommended: assign to an invoice",
  WAIT: "Recommended: wait",
  DISMISS: "Recommended: dismiss the review",
};

const adviceTitle = ({ action, reason }: Recommendation) =>
  reason === "REST_IS_ASKED" ? "Remaining amount requested" : TITLES[action];

/** `currency`: the currency of the invoice in question. */
function AdviceText({ advice, currency }: { readonly advice: Recommendation; readonly currency: string }) {
  const { money } = useFormats();
  const amount = advice.amount === null ? "" : money(advice.amount, currency);
  return (
    <Text size="sm" component="div">
      {REASONS[advice.reason].replace("{amount}", amount)}
      {advice.until !== null && (
        <>
          {" "}
          Until <Time value={advice.until} />.
        </>
      )}
    </Text>
  );
}

/** The recommended decision. `children` are buttons for it. */
export function AdviceAlert(of: {
  readonly advice: Recommendation;
  readonly currency: string;
  readonly needsDecision: boolean;
  readonly children?: ReactNode;
}) {
  return (
    <Alert color={of.needsDecision ? "orange" : "gray"} title={adviceTitle(of.advice)}>
      <Group justify="space-between" gap="sm">
        <div style={{ flex: "1 1 16rem" }}>
          <AdviceText advice={of.advice} currency={of.currency} />
        </div>
        {of.children}
      </Group>
    </Alert>
  );
}

/** The recommendation for a payment without an invoice. If it is ASSIGN, the invoice is the first candidate below. */
export function PaymentAdvice(of: {
  readonly payment: PaymentDetails;
  /** Undefined for a member who may not decide. */
  readonly onChosen: ((decision: Decision) => void) | undefined;
}) {
  const { recommendation: advice } = of.payment;
  const { onChosen } = of;
  if (advice === undefined) return null;
  return (
    <AdviceAlert advice={advice} currency="USD" needsDecision={advice.action !== "WAIT"}>
      {advice.action === "RETURN" && onChosen !== undefined && (
        <Button size="xs" onClick={() => onChosen({ action: "IGNORE", isReturned: true })}>
          Mark as returned
        </Button>
      )}
    </AdviceAlert>
  );
}

/** The decision about an invoice that the recommendation leads to; undefined if the user has nothing to do. */
export function decisionOf({ recommendation }: Invoice) {
  switch (recommendation?.action) {
    case "ACCEPT":
    case "DISMISS":
    case "ASK_FOR_REST":
      return recommendation.action;
    case "RETURN":
      return "RETURNED";
    case "ASSIGN":
    case "WAIT":
    case undefined:
      return undefined;
  }
}
