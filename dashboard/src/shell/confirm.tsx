// Asks before something that cannot be undone.
import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";

interface Asked {
  /** Label of the button, and the dialog's title: `Cancel invoice`. */
  readonly action: string;
  /** What it does, and what it does not. */
  readonly consequence: ReactNode;
  readonly onConfirmed: () => void;
}

interface Props extends Asked {
  readonly isBusy: boolean;
  /** The row, for the button's name; only the action by default. */
  readonly subject?: string;
  readonly size?: "xs" | "sm";
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
      <ConfirmDialog
        isOpen={isOpen}
        onClose={close}
        action={action}
        consequence={consequence}
        onConfirmed={onConfirmed}
      />
    </>
  );
}

interface DialogProps extends Asked {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The question by itself, where the button may go away while it is asked. */
export function ConfirmDialog({ action, consequence, isOpen, onClose, onConfirmed }: DialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={action}>
      <Stack>
        <Text component="div">{consequence}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Keep it
          </Button>
          <Button
            color="red.9"
            onClick={() => {
              onClose();
              onConfirmed();
            }}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
