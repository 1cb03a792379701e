import { Button, Group, Modal, NativeSelect, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { Webhook } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { EndpointForm } from "../developers/endpoint-form.tsx";
import { ConfirmButton } from "../shell/confirm.tsx";
import { ConfirmTyped } from "../shell/confirm-typed.tsx";
import { useMay } from "../shell/merchants.ts";
import { useFormats } from "../shell/reader.tsx";
import { ShownOnce } from "../shell/shown-once.tsx";

interface Props {
  readonly endpoint: Webhook;
}

export function EndpointActions({ endpoint }: Props) {
  const mayUpdate = useMay("webhook:update");
  const mayDelete = useMay("webhook:delete");
  const [isEditing, editing] = useDisclosure();
  return (
    <>
      {mayUpdate && (
        <>
          {endpoint.isActive && <PingButton endpoint={endpoint} />}
          <Button size="sm" variant="default" onClick={editing.open}>
            Edit
          </Button>
          <ReplayButton endpoint={endpoint} />
          <RotateButton endpoint={endpoint} />
          <SwitchButton endpoint={endpoint} />
          <EndpointForm endpoint={endpoint} isOpen={isEditing} onClose={editing.close} />
        </>
      )}
      {mayDelete && <DeleteButton endpoint={endpoint} />}
    </>
  );
}

function PingButton({ endpoint: { merchantId, id: webhookId } }: Props) {
  const ping = useChange("pingWebhook", { onSuccess: () => showDone("Ping sent.") });
  return (
    <Button size="sm" loading={ping.isPending} onClick={() => ping.mutate({ merchantId, params: { webhookId } })}>
      Send a ping
    </Button>
  );
}

/** The same button switches the endpoint on again, so there is no confirmation. */
function SwitchButton({ endpoint: { merchantId, id: webhookId, isActive } }: Props) {
  const change = useChange("updateWebhook", {
    onSuccess: (now) => showDone(now.isActive ? "Endpoint turned on." : "Endpoint turned off."),
  });
  return (
    <Button
      size="sm"
      variant={isActive ? "default" : "filled"}
      loading={change.isPending}
      onClick={() => change.mutate({ merchantId, params: { webhookId }, body: { isActive: !isActive } })}
    >
      {isActive ? "Turn off" : "Turn on"}
    </Button>
  );
}

function RotateButton({ endpoint: { merchantId, id: webhookId } }: Props) {
  const [secret, setSecret] = useState<string>();
  const rotate = useChange("rotateWebhookSecret", { onSuccess: (made) => setSecret(made.secret) });
  return (
    <>
      <ConfirmButton
        action="Rotate secret"
        isBusy={rotate.isPending}
        consequence="The endpoint gets a new secret. For 24 hours each request is signed with both, so your server can switch over without missing any."
        onConfirmed={() => rotate.mutate({ merchantId, params: { webhookId } })}
      />
      <ShownOnce title="New secret" secret={secret} name="the secret" onKept={() => setSecret(undefined)}>
        Update your server within 24 hours; until then the old secret works too.
      </ShownOnce>
    </>
  );
}

function DeleteButton({ endpoint: { merchantId, id: webhookId, url } }: Props) {
  const navigate = useNavigate();
  const remove = useChange("deleteWebhook", {
    leave: () =>
      navigate({ to: "/console/$merchantId/developers", params: { merchantId }, search: { tab: "endpoints" } }),
    onSuccess: () => showDone("Endpoint deleted."),
  });
  return (
    <ConfirmTyped
      action="Delete"
      subject={url}
      word={new URL(url).host}
      isBusy={remove.isPending}
      consequence="It stops receiving events, its secret stops working, and its delivery log is deleted. If you might need it again, turn it off instead."
      onConfirmed={() => remove.mutate({ merchantId, params: { webhookId } })}
    />
  );
}

const HOUR_MS = 60 * 60 * 1_000;
const SPANS = [
  { value: "1", label: "The last hour" },
  { value: "24", label: "The last day" },
  { value: "168", label: "The last 7 days" },
  { value: "720", label: "The last 30 days" },
  { value: "2160", label: "The last 90 days" },
];

function ReplayButton({ endpoint }: Props) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="sm" variant="default" disabled={!endpoint.isActive} onClick={open}>
        Replay
      </Button>
      <Modal opened={isOpen} onClose={close} title="Replay events">
        <ReplayForm endpoint={endpoint} onDone={close} />
      </Modal>
    </>
  );
}

function ReplayForm({ endpoint: { merchantId, id: webhookId }, onDone }: Props & { readonly onDone: () => void }) {
  const { count } = useFormats();
  const [hours, setHours] = useState("24");
  const replay = useChange("replayEvents", {
    onSuccess: ({ scheduled }) => {
      showDone(scheduled === 1 ? "One event is being sent again." : `${count(scheduled)} events are being sent again.`);
      onDone();
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    const nowMs = Date.now();
    const from = new Date(nowMs - Number(hours) * HOUR_MS).toISOString();
    replay.mutate({ merchantId, params: { webhookId }, body: { from, to: new Date(nowMs).toISOString() } });
  };
  return (
    <form onSubmit={send}>
      <Stack>
        <Text size="sm">
          Every event from this period that the endpoint subscribes to is sent again with its original ID, so a server
          that remembers IDs does not process any event twice.
        </Text>
        <NativeSelect
          label="Events from"
          data={SPANS}
          value={hours}
          data-autofocus
          onChange={({ currentTarget }) => setHours(currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={replay.isPending}>
            Replay events
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
