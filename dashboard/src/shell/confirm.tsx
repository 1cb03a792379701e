// Asks before something that cannot be undone.
import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";

interface Props {
  /** Label of the button, and the dialog's title: `Cancel invoice`. */
  readonly action: string;
  /** What it does, and what it does not. */
  readonly consequence: ReactNode;
  readonly isBusy: boolean;
  /** The row, for the button's name; only the action by default. */
  readonly subject?: string;
  readonly size?: "xs" | "sm";
  readonly onConfirmed: () => void;
}

export function ConfirmButton({ action, consequence, isBusy, subject, size = "sm", onConfirmed }: Props) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button
        size={size}
        variant="default"
        loading={isBusy}
        onClick={open}
        {...(subject === undefined ? {} : { "aria-label": `${action}: ${subject}` })}
      >
        {action}
      </Button>
      <Modal opened={isOpen} onClose={close} title={action}>
        <Stack>
          <Text component="div">{consequence}</Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              Keep it
            </Button>
            <Button
              color="red.9"
              onClick={() => {
                close();
                onConfirmed();
              }}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
