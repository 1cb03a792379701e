// Asks for confirmation before an action, and says what the action does.
import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";

interface Asked {
  /** Label of the button, and the dialog's title: `Cancel invoice`. */
  readonly action: string;
  /** What the action does, and what it does not do. */
  readonly consequence: ReactNode;
  readonly onConfirmed: () => void;
}

interface Props extends Asked {
  readonly isBusy: boolean;
  /** The row to which the button belongs, for the button's accessible name; by default the name is only the action. */
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

/** The dialog without its button, for a button that may disappear while the dialog is open. */
export function ConfirmDialog({ action, consequence, isOpen, onClose, onConfirmed }: DialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={action}>
      <Stack>
        <Text component="div">{consequence}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Go back
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
