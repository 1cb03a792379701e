// Requires typing a word before something irreversible: an accidental click must not be enough.
import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type FormEvent, type ReactNode, useState } from "react";

interface Props {
  /** Label of the button, and the dialog's title: `Revoke the key`. */
  readonly action: string;
  /** What the action does, and what it does not do. */
  readonly consequence: ReactNode;
  /** The text to type, such as the object's name. */
  readonly word: string;
  readonly isBusy: boolean;
  /** The row to which the button belongs, for the button's accessible name; by default the name is only the action. */
  readonly subject?: string;
  readonly size?: "xs" | "sm";
  /** Called with the typed word. */
  readonly onConfirmed: (typed: string) => void;
}

export function ConfirmTyped({ action, consequence, word, isBusy, subject, size = "sm", onConfirmed }: Props) {
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
        <TypedForm
          {...{ action, consequence, word }}
          onKept={close}
          onConfirmed={(typed) => {
            close();
            onConfirmed(typed);
          }}
        />
      </Modal>
    </>
  );
}

interface FormProps extends Pick<Props, "action" | "consequence" | "word" | "onConfirmed"> {
  readonly onKept: () => void;
}

function TypedForm({ action, consequence, word, onKept, onConfirmed }: FormProps) {
  const [typed, setTyped] = useState("");
  const isRight = normal(typed) === normal(word);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (isRight) onConfirmed(typed.trim());
  };
  return (
    <form onSubmit={send}>
      <Stack>
        <Text component="div">{consequence}</Text>
        <TextInput
          label={
            <>
              Type <bdi>{word}</bdi> to confirm
            </>
          }
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onKept}>
            Go back
          </Button>
          <Button type="submit" color="red.9" disabled={!isRight}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Merges repeated spaces, which browsers show as one. */
function normal(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}
