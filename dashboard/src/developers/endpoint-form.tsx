// Creates an endpoint, or changes one.
import { Modal } from "@mantine/core";
import { type ComponentProps, lazy, Suspense } from "react";
import { Loading } from "../shell/problem.tsx";

/** Loaded when the form is opened, because the choice of events needs as much code as a page. */
const EndpointFields = lazy(async () => ({ default: (await import("./endpoint-fields.tsx")).EndpointFields }));

interface Props extends ComponentProps<typeof EndpointFields> {
  readonly isOpen: boolean;
}

export function EndpointForm({ isOpen, ...fields }: Props) {
  return (
    <Modal
      opened={isOpen}
      onClose={fields.onClose}
      title={fields.endpoint === undefined ? "New endpoint" : "Edit endpoint"}
      size="lg"
    >
      <Suspense fallback={<Loading />}>
        <EndpointFields {...fields} />
      </Suspense>
    </Modal>
  );
}
