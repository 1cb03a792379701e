// A transaction that a customer named is read from the chain at once, and its payments are credited or listed.
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
        Look up a transaction
      </Button>
      <Modal opened={isOpen} onClose={close} title="Look up a transaction" size="lg">
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
    validate: { txHash: (hash) => (HASH.test(hash.trim()) ? null : "Enter the 64 digits of its hash") },
  });
  const lookUp = useChange("lookUpPayment", {
    isShownInPlace: true,
    onSuccess: ({ data }) => {
      const [first, second] = data;
      if (first === undefined) {
        form.setFieldError("txHash", "This transaction pays nothing to your addresses");
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
    <Form onSubmit={send} action="Look it up" isBusy={lookUp.isPending}>
      <Text size="sm">
        Your customer says that they paid, and nothing shows? Ask for the hash of their transaction: it is read from the
        chain at once.
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
