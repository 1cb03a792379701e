import { Button, Group, Modal, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { fieldErrors } from "../api/errors.ts";
import { showDone, showError, useChange } from "../api/queries.ts";
import { fieldText, numberError, numberIn, wireNumber } from "../shell/amounts.ts";
import { networkName } from "../shell/coin-name.ts";
import { Form } from "../shell/form.tsx";
import { NumberField } from "../shell/number-field.tsx";

interface Props {
  readonly network: string;
  /** The last block that has been read. */
  readonly cursorHeight: number;
}

export function RereadButton(props: Props) {
  const { network } = props;
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="xs" variant="default" aria-label={`Rescan: ${network}`} onClick={open}>
        Rescan
      </Button>
      <Modal opened={isOpen} onClose={close} title={`Rescan ${networkName(network)} blocks`}>
        <RereadForm {...props} onDone={close} />
      </Modal>
    </>
  );
}

/** The default number of blocks, which can be read in a minute or two. */
const USUAL_BLOCKS = 1_000;
/** The API's limit. */
const MOST_BLOCKS = 1_000_000;
const HEIGHT = { digits: 0, most: BigInt(Number.MAX_SAFE_INTEGER) } as const;
const NO_HEIGHT = "Enter a block number.";

function RereadForm({ network, cursorHeight, onDone }: Props & { readonly onDone: () => void }) {
  const form = useForm({
    initialValues: {
      fromHeight: fieldText(Math.max(0, cursorHeight - USUAL_BLOCKS + 1)),
      toHeight: fieldText(cursorHeight),
    },
    validate: {
      fromHeight: (from) => numberError(from, HEIGHT, NO_HEIGHT),
      toHeight: (to, { fromHeight }) =>
        numberError(to, HEIGHT, NO_HEIGHT) ??
        rangeError({ from: numberIn(fromHeight, HEIGHT) ?? 0, to: wireNumber(to, HEIGHT), cursorHeight }),
    },
  });
  const request = useChange("rereadNetwork", {
    isShownInPlace: true,
    onSuccess: () => {
      showDone("Rescan started. This page shows its progress.");
      onDone();
    },
  });
  const send = form.onSubmit(({ fromHeight, toHeight }) =>
    request.mutate(
      {
        params: { network },
        body: { fromHeight: wireNumber(fromHeight, HEIGHT), toHeight: wireNumber(toHeight, HEIGHT) },
      },
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
    <Form
      onSubmit={send}
      action="Rescan"
      isBusy={request.isPending}
      leave={
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      }
    >
      <Text size="sm">
        Finds payments that a data source missed. It runs alongside normal reading. Known payments are not credited
        twice, and payments it finds count from the time they were made, even for closed invoices.
      </Text>
      <Group grow align="flex-start">
        <NumberField label="From block" rule={HEIGHT} {...form.getInputProps("fromHeight")} data-autofocus />
        <NumberField label="To block" rule={HEIGHT} {...form.getInputProps("toHeight")} />
      </Group>
    </Form>
  );
}

function rangeError(of: { readonly from: number; readonly to: number; readonly cursorHeight: number }): string | null {
  const { from, to, cursorHeight } = of;
  if (to < from) return '"To block" must not be lower than "From block".';
  if (to > cursorHeight) return `Only blocks up to ${cursorHeight} have been read.`;
  return to - from < MOST_BLOCKS ? null : `At most ${MOST_BLOCKS} blocks at a time.`;
}
