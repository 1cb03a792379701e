import { Button, Group, Modal, NumberInput, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { fieldErrors } from "../api/errors.ts";
import { showDone, showError, useChange } from "../api/queries.ts";

interface Props {
  readonly network: string;
  /** The last block that was read. */
  readonly cursorHeight: number;
}

export function RereadButton(props: Props) {
  const { network } = props;
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="xs" variant="default" aria-label={`Read again: ${network}`} onClick={open}>
        Read again
      </Button>
      <Modal opened={isOpen} onClose={close} title={`Read blocks of ${network} again`}>
        <RereadForm {...props} onDone={close} />
      </Modal>
    </>
  );
}

/** As many as are read in a minute or two. */
const USUAL_BLOCKS = 1_000;
/** As the API takes it. */
const MOST_BLOCKS = 1_000_000;

function RereadForm({ network, cursorHeight, onDone }: Props & { readonly onDone: () => void }) {
  const form = useForm({
    initialValues: { fromHeight: Math.max(0, cursorHeight - USUAL_BLOCKS + 1), toHeight: cursorHeight },
    validate: {
      fromHeight: (from) => (Number.isInteger(from) ? null : "Enter a block's number."),
      toHeight: (to, { fromHeight }) => rangeError({ from: fromHeight, to, cursorHeight }),
    },
  });
  const request = useChange("rereadNetwork", {
    isShownInPlace: true,
    onSuccess: () => {
      showDone("The range is being read again. This page shows how far it is.");
      onDone();
    },
  });
  const send = form.onSubmit(({ fromHeight, toHeight }) =>
    request.mutate(
      { params: { network }, body: { fromHeight, toHeight } },
      {
        onError: (error) => {
          const errors = fieldErrors(error);
          if (Object.keys(errors).length === 0) showError(error);
          form.setErrors(errors);
        },
      },
    ),
  );
  return (
    <form onSubmit={send} noValidate>
      <Stack>
        <Text size="sm">
          For payments that a source has hidden. It runs beside the usual reading. What is known is not credited again,
          and what is found counts as of its own time, also for invoices that have ended.
        </Text>
        <Group grow align="flex-start">
          <NumberInput label="From block" {...NUMBER} {...form.getInputProps("fromHeight")} data-autofocus />
          <NumberInput label="To block" {...NUMBER} {...form.getInputProps("toHeight")} />
        </Group>
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={request.isPending}>
            Read again
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const NUMBER = {
  min: 0,
  allowDecimal: false,
  allowNegative: false,
  hideControls: true,
  thousandSeparator: true,
} as const;

function rangeError(of: { readonly from: number; readonly to: number; readonly cursorHeight: number }): string | null {
  const { from, to, cursorHeight } = of;
  if (!Number.isInteger(to)) return "Enter a block's number.";
  if (to < from) return "The last block is before the first.";
  if (to > cursorHeight) return `Block ${cursorHeight} is the last one that was read.`;
  return to - from < MOST_BLOCKS ? null : `At most ${MOST_BLOCKS} blocks at a time.`;
}
