// Looks up a transaction on the chain immediately, by the hash that a customer sent, and then shows the payments in it.
import { Button, Modal, Select, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useChange } from "../api/queries.ts";
import { Form, refusedIn } from "../shell/form.tsx";
import { Icon } from "../shell/icons.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { useNetworks } from "./networks.ts";

/** From the contract (lookUpPaymentBody). */
const HASH = /^(0x)?[0-9a-fA-F]{64}$/;

export function LookUpButton() {
  const [isOpen, { open, close }] = useDisclosure();
  const networks = useNetworks();
  if (networks.length === 0) return null;
  return (
    <>
      <Button variant="default" leftSection={<Icon name="search" size={16} />} onClick={open}>
        Look up transaction
      </Button>
      <Modal opened={isOpen} onClose={close} title="Look up transaction" size="lg">
        <LookUpForm networks={networks} onDone={close} />
      </Modal>
    </>
  );
}

function LookUpForm({ networks, onDone }: { readonly networks: readonly string[]; readonly onDone: () => void }) {
  const { id: merchantId } = useMerchant();
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { network: networks[0] ?? "", txHash: "" },
    validate: {
      txHash: (hash) => (HASH.test(hash.trim()) ? null : "Enter the transaction hash (64 hexadecimal digits)"),
    },
  });
  const lookUp = useChange("lookUpPayment", {
    isShownInPlace: true,
    onSuccess: ({ data }) => {
      const [first, second] = data;
      if (first === undefined) {
        form.setFieldError("txHash", "This transaction does not pay to any of your addresses");
        return;
      }
      onDone();
      if (second === undefined) {
        void navigate({ to: "/console/$merchantId/payments/$paymentId", params: { merchantId, paymentId: first.id } });
        return;
      }
      const search = { status: "ALL", txHash: first.txHash } as const;
      void navigate({ to: "/console/$merchantId/payments", params: { merchantId }, search });
    },
  });
  const send = form.onSubmit(({ network, txHash }) =>
    lookUp.mutate({ merchantId, body: { network, txHash: txHash.trim() } }, refusedIn(form)),
  );
  return (
    <Form onSubmit={send} action="Look up" isBusy={lookUp.isPending}>
      <Text size="sm">
        If a customer says they paid but no payment shows, ask for their transaction hash. The transaction is read from
        the chain immediately.
      </Text>
      <Select label="Network" data={networks} allowDeselect={false} {...form.getInputProps("network")} />
      <TextInput
        label="Transaction hash"
        required
        data-autofocus
        classNames={{ input: "mono" }}
        {...form.getInputProps("txHash")}
      />
    </Form>
  );
}
