// The first steps of a new user: name a shop, add a wallet, and sell something.
import { Anchor, Button, Card, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Merchant } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { refusedIn } from "../shell/form.tsx";
import { Icon } from "../shell/icons.tsx";
import { rememberMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { FirstSale } from "./first-sale.tsx";
import { FirstWallet } from "./first-wallet.tsx";

const LONGEST_NAME = 200;
type Step = "MERCHANT" | "WALLET" | "PRODUCT" | "DONE";
const STEPS: readonly Step[] = ["MERCHANT", "WALLET", "PRODUCT", "DONE"];

export function WelcomePage() {
  const [merchant, setMerchant] = useState<Merchant>();
  const [step, setStep] = useState<Step>("MERCHANT");
  const made = (created: Merchant) => {
    rememberMerchant(created);
    setMerchant(created);
    setStep("WALLET");
  };
  return (
    <Stack maw={680} gap={0}>
      <PageHeader title="Welcome" subtitle="Three steps to your first payment. The last two can wait." />
      <Stack>
        <StepCard number={1} title="Name your shop" now={step} step="MERCHANT" result={merchant?.name}>
          <NameMerchant onMade={made} />
        </StepCard>
        <StepCard number={2} title="Add your first wallet" now={step} step="WALLET">
          {merchant !== undefined && <FirstWallet merchant={merchant} onDone={() => setStep("PRODUCT")} />}
        </StepCard>
        <StepCard number={3} title="Sell something" now={step} step="PRODUCT">
          {merchant !== undefined && <FirstSale merchant={merchant} onDone={() => setStep("DONE")} />}
        </StepCard>
        {step === "DONE" && merchant !== undefined && (
          <Group justify="flex-end">
            <Text size="sm" c="dimmed" mr="auto">
              Next: create an invoice and pay it yourself.
            </Text>
            <Button component={Link} to={`/console/${merchant.id}/invoices`} variant="default">
              Go to your invoices
            </Button>
            <Button component={Link} to={`/console/${merchant.id}`} rightSection={<Icon name="next" size={16} />}>
              Open Home
            </Button>
          </Group>
        )}
      </Stack>
      <Text size="sm" c="dimmed" mt="lg">
        Were you invited to a team?{" "}
        <Anchor component={Link} to="/invitations" inherit underline="always">
          See your invitations
        </Anchor>
        .
      </Text>
    </Stack>
  );
}

interface StepCardProps {
  readonly number: number;
  readonly title: string;
  readonly step: Step;
  readonly now: Step;
  readonly result?: string | undefined;
  readonly children: ReactNode;
}

function StepCard({ number, title, step, now, result, children }: StepCardProps) {
  const isOver = STEPS.indexOf(step) < STEPS.indexOf(now);
  return (
    <Card component="section" aria-label={title}>
      <Group wrap="nowrap" align="flex-start">
        <div className="step-mark" aria-hidden>
          {isOver ? <Icon name="check" /> : number}
        </div>
        <Stack gap="sm" style={{ flex: 1, minWidth: 0 }}>
          <Title order={2} pt={3}>
            {title}
          </Title>
          {isOver && result !== undefined && <Text c="dimmed">{result}</Text>}
          {step === now && children}
        </Stack>
      </Group>
    </Card>
  );
}

function NameMerchant({ onMade }: { readonly onMade: (merchant: Merchant) => void }) {
  const form = useForm({
    initialValues: { name: "" },
    validate: { name: (name) => (name.trim() === "" ? "Enter a name. Your customers will see it" : null) },
  });
  const create = useChange("createMerchant", { isShownInPlace: true, onSuccess: onMade });
  return (
    <form onSubmit={form.onSubmit(({ name }) => create.mutate({ body: { name: name.trim() } }, refusedIn(form)))}>
      <Stack>
        <TextInput
          label="Name of your shop or business"
          description="Your customers see it when they pay."
          maxLength={LONGEST_NAME}
          {...form.getInputProps("name")}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending}>
            Continue
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
