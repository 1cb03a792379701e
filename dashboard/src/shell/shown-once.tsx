// A secret that the service does not keep in the clear: it is shown when created, only in this dialog, and never again.
import { Alert, Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { CopyText } from "./copy-text.tsx";

interface Props {
  readonly title: string;
  /** Undefined if there is none to show. */
  readonly secret: string | undefined;
  /** For the button's name: `the key`. */
  readonly name: string;
  /** Explains where it belongs. */
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
