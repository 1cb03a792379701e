// A dialog that shows a new secret. The service does not store it in plain text, so this is the only time that it is shown.
import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { CopyText } from "./copy-text.tsx";

interface Props {
  readonly title: string;
  /** Undefined if there is no secret to show. */
  readonly secret: string | undefined;
  /** Completes the label of the copy button: `the key`. */
  readonly name: string;
  /** Explains where to store or enter the secret. */
  readonly children: ReactNode;
  readonly onKept: () => void;
}

export function ShownOnce({ title, secret, name, children, onKept }: Props) {
  return (
    <Modal opened={secret !== undefined} onClose={onKept} title={title} closeOnClickOutside={false} size="lg">
      <Stack>
        <Alert color="yellow" title="You will not see this again">
          <CopyText value={secret ?? ""} name={name} />
        </Alert>
        <Text size="sm" component="div">
          {children}
        </Text>
        <Group justify="flex-end">
          <Button onClick={onKept}>I have saved it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
