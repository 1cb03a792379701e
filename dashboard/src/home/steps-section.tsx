// First steps, ticked off as they are completed. They disappear once all are done or skipped. The skipped steps are stored in the browser, per
// merchant.
import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { reading } from "../api/queries.ts";
import { Icon } from "../shell/icons.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { Loading } from "../shell/problem.tsx";
import { Section } from "../shell/section.tsx";
import { STEPS, type Step, stepsFor, takenSteps } from "./steps.ts";

const FirstWallet = lazy(async () => ({ default: (await import("../welcome/first-wallet.tsx")).FirstWallet }));
const FirstSale = lazy(async () => ({ default: (await import("../welcome/first-sale.tsx")).FirstSale }));
const NewInvoice = lazy(async () => ({ default: (await import("../invoices/new-invoice.tsx")).NewInvoice }));

const WORDS: Readonly<Record<Step, { readonly title: string; readonly about: string; readonly action: string }>> = {
  WALLET: {
    title: "Add your first wallet",
    about: "Your own address or public key. Customers pay straight to it.",
    action: "Add a wallet",
  },
  SALE: {
    title: "Sell something",
    about: "Share a product page, or add three lines of code to your shop.",
    action: "Start selling",
  },
  PAID: {
    title: "Get your first invoice paid",
    about: "Create an invoice and pay a small amount yourself, from another wallet or on a test chain on this machine.",
    action: "New invoice",
  },
};

export function StepsSection() {
  const merchant = useMerchant();
  const [over, setOver] = useLocalStorage<readonly Step[]>({
    key: `edgetill-steps-${merchant.id}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const [open, setOpen] = useState<Step>();
  const steps = stepsFor(merchant);
  const isOver = steps.every((step) => over.includes(step));
  const taken = useTaken(merchant.id, !isOver);
  const left = steps.filter((step) => !over.includes(step) && taken?.includes(step) === false);
  const skip = (step: Step) => {
    setOver(STEPS.filter((each) => each === step || over.includes(each)));
    setOpen(undefined);
  };
  // An open dialog stays, because it may be showing a secret that is never shown again.
  if (taken === undefined || (left.length === 0 && open === undefined)) return null;
  return (
    <Section
      title="First steps"
      about="What is left to do before you can take payments. Skip anything you do not need."
    >
      {steps.map((step, place) => (
        <StepRow
          key={step}
          step={step}
          number={place + 1}
          isTaken={taken.includes(step)}
          isSkipped={over.includes(step)}
          onOpen={() => setOpen(step)}
          onSkip={() => skip(step)}
        />
      ))}
      <StepDialog step={open} onClose={() => setOpen(undefined)} onSkip={skip} />
    </Section>
  );
}

/** The completed steps. Sends requests only while `isWanted`, which is false once every step has been skipped. */
function useTaken(merchantId: string, isWanted: boolean): readonly Step[] | undefined {
  const one = { limit: 1 } as const;
  const wanted = { enabled: isWanted };
  const wallets = useQuery({ ...reading("listWallets", { merchantId }), ...wanted });
  const products = useQuery({ ...reading("listProducts", { merchantId, query: one }), ...wanted });
  const apiKeys = useQuery({ ...reading("listApiKeys", { merchantId, query: one }), ...wanted });
  const paid = useQuery({ ...reading("listInvoices", { merchantId, query: { ...one, status: "PAID" } }), ...wanted });
  const more = useQuery({
    ...reading("listInvoices", { merchantId, query: { ...one, status: "OVERPAID" } }),
    ...wanted,
  });
  const isPaidKnown = paid.data !== undefined && more.data !== undefined;
  return takenSteps({
    wallets: wallets.data?.length,
    products: products.data?.data.length,
    apiKeys: apiKeys.data?.data.length,
    paidInvoices: isPaidKnown ? paid.data.data.length + more.data.data.length : undefined,
  });
}

interface StepRowProps {
  readonly step: Step;
  readonly number: number;
  readonly isTaken: boolean;
  readonly isSkipped: boolean;
  readonly onOpen: () => void;
  readonly onSkip: () => void;
}

function StepRow({ step, number, isTaken, isSkipped, onOpen, onSkip }: StepRowProps) {
  const { title, about, action } = WORDS[step];
  const result = isTaken ? "Done." : "Skipped.";
  const isLeft = !isTaken && !isSkipped;
  return (
    <Group wrap="nowrap" align="flex-start">
      <div className="step-mark" aria-hidden>
        {isTaken ? <Icon name="check" /> : number}
      </div>
      <Group justify="space-between" gap="xs" style={{ flex: 1, minWidth: 0 }}>
        <Stack gap={2} style={{ flex: "1 1 14rem" }}>
          <Text fw={650}>{title}</Text>
          <Text size="sm" c="dimmed">
            {isLeft ? about : result}
          </Text>
        </Stack>
        {isLeft && (
          <Group gap="xs">
            <Button size="xs" variant="subtle" aria-label={`Skip: ${title}`} onClick={onSkip}>
              Skip
            </Button>
            <Button size="xs" onClick={onOpen}>
              {action}
            </Button>
          </Group>
        )}
      </Group>
    </Group>
  );
}

interface StepDialogProps {
  readonly step: Step | undefined;
  readonly onClose: () => void;
  readonly onSkip: (step: Step) => void;
}

function StepDialog({ step, onClose, onSkip }: StepDialogProps) {
  const merchant = useMerchant();
  if (step === "PAID") {
    return (
      <Suspense>
        <NewInvoice isOpen onClose={onClose} />
      </Suspense>
    );
  }
  return (
    <Modal
      opened={step !== undefined}
      onClose={onClose}
      title={step === undefined ? "" : WORDS[step].title}
      size="lg"
      closeOnClickOutside={false}
    >
      <Suspense fallback={<Loading />}>
        {step === "WALLET" && <FirstWallet merchant={merchant} onDone={onClose} onSkip={() => onSkip(step)} />}
        {step === "SALE" && <FirstSale merchant={merchant} onDone={onClose} onSkip={() => onSkip(step)} />}
      </Suspense>
    </Modal>
  );
}
