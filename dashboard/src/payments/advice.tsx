// The decision that the API advises, with its reason: nothing here decides again what the server has said.
import { Alert, Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Invoice, PaymentDetails, Recommendation } from "../api/operations.ts";
import { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";
import type { Decision } from "./decision.tsx";

/** `{amount}` is what is missing, or too much. */
const REASONS: Readonly<Record<Recommendation["reason"], string>> = {
  TOO_LITTLE_CAME: "Too little came before the end: {amount}.",
  REST_IS_ASKED: "The page asks the customer for the rest, {amount}, and counts it.",
  LATE_BUT_ENOUGH: "Enough came, after the end.",
  LATE_AND_TOO_LITTLE: "Money came after the end, and too little of it: {amount}.",
  MORE_THAN_ASKED: "More came than you asked for: {amount} too much.",
  AFTER_CANCEL: "{amount} came after you had cancelled the invoice.",
  NOT_CONFIRMED: "Not all of it is confirmed yet.",
  NO_PRICE: "There is no exchange rate for what came yet.",
  NETWORK_NOT_READ: "The network has not been read to the end of the invoice yet.",
  NOTHING_CAME: "Nothing came before the end, as far as the networks could be read.",
  PAID_ANYWAY: "The invoice is paid. Look at the payments, and dismiss the review if they are right.",
  OWN_ADDRESS: "It came to the address that was given to one invoice alone.",
  ONLY_ONE_FITS: "One invoice alone asked for an amount of this size then.",
  AMOUNT_TELLS: "What is missing from one invoice is just a fee, or a half; from the others it is not.",
  CLOSEST_FITS: "One invoice asked for nearly this amount; the others asked for something else.",
  SEVERAL_FIT: "Several invoices may have been meant, and a claim does not tell which.",
  NONE_FITS: "No invoice waited for an amount of this size.",
  NOTHING_DUE: "The invoice that it fits needs no money.",
};

const TITLES: Readonly<Record<Recommendation["action"], string>> = {
  ACCEPT: "Recommended: accept it",
  ASK_FOR_REST: "Recommended: ask for the rest",
  RETURN: "Recommended: send the money back",
  ASSIGN: "Recommended: assign it",
  WAIT: "Recommended: wait",
  DISMISS: "Recommended: dismiss the review",
};

const adviceTitle = ({ action, reason }: Recommendation) =>
  reason === "REST_IS_ASKED" ? "The rest is asked for" : TITLES[action];

/** `currency`: of the invoice that it is about. */
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

/** One decision first; `otherwise` are the others. */
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

/** What is advised about a payment without an invoice; the invoice of an ASSIGN is the first candidate below. */
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
          It was sent back
        </Button>
      )}
    </AdviceAlert>
  );
}

/** The decision of an invoice that follows an advice; undefined if there is nothing to press. */
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
