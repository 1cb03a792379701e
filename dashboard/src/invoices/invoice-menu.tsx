// Actions for an invoice that do not leave the list.
import { ActionIcon, Button, CopyButton, Group, Menu, Modal, Stack } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Invoice } from "../api/operations.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { Icon } from "../shell/icons.tsx";
import { useMay } from "../shell/merchants.ts";
import { QrCode } from "../shell/qr-code.tsx";
import { EditInvoice } from "./edit-invoice.tsx";
import { InvoiceState } from "./status.tsx";
import { SummarySection } from "./summary-section.tsx";
import { TimelineSection } from "./timeline-section.tsx";

/** A dialog about an invoice of the list. */
export interface Opened {
  readonly dialog: "PREVIEW" | "QR" | "EDIT";
  readonly invoice: Invoice;
}

interface MenuProps {
  readonly invoice: Invoice;
  readonly onOpen: (opened: Opened) => void;
}

export function InvoiceMenu({ invoice, onOpen }: MenuProps) {
  const mayUpdate = useMay("invoice:update");
  const { name, checkoutUrl, status } = invoice;
  return (
    <div className="above-row-link">
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="search" />} onClick={() => onOpen({ dialog: "PREVIEW", invoice })}>
            Preview
          </Menu.Item>
          <CopyButton value={checkoutUrl}>
            {({ copy }) => (
              <Menu.Item leftSection={<Icon name="copy" />} onClick={copy}>
                Copy link
              </Menu.Item>
            )}
          </CopyButton>
          <Menu.Item leftSection={<Icon name="phone" />} onClick={() => onOpen({ dialog: "QR", invoice })}>
            Show QR code
          </Menu.Item>
          {mayUpdate && status === "AWAITING_PAYMENT" && (
            <Menu.Item leftSection={<Icon name="edit" />} onClick={() => onOpen({ dialog: "EDIT", invoice })}>
              Edit
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

interface DialogsProps {
  readonly opened: Opened | undefined;
  readonly onClose: () => void;
}

/** Rendered outside the rows: a row is removed when the window narrows or the list is refetched, which would discard typed text. */
export function InvoiceDialogs({ opened, onClose }: DialogsProps) {
  if (opened === undefined) return null;
  const { dialog, invoice } = opened;
  if (dialog === "PREVIEW") return <Preview invoice={invoice} onClose={onClose} />;
  if (dialog === "EDIT") return <EditInvoice invoice={invoice} isOpen onClose={onClose} />;
  const { name, checkoutUrl } = invoice;
  return (
    <Modal opened onClose={onClose} title={`Payment page for ${name}`}>
      <Stack align="center">
        <QrCode text={checkoutUrl} label="Payment page QR code" size={240} />
        <CopyText value={checkoutUrl} name="the link" />
      </Stack>
    </Modal>
  );
}

interface PreviewProps {
  readonly invoice: Invoice;
  readonly onClose: () => void;
}

/** The invoice at a glance. Payments, coins and events are on the invoice's own page. */
function Preview({ invoice, onClose }: PreviewProps) {
  const { merchantId, id: invoiceId, name } = invoice;
  return (
    <Modal opened onClose={onClose} title={name} size="lg">
      <Stack>
        <InvoiceState invoice={invoice} />
        <SummarySection invoice={invoice} />
        <TimelineSection invoice={invoice} />
        <Group justify="flex-end">
          <Button
            renderRoot={(props) => (
              <Link
                to="/console/$merchantId/invoices/$invoiceId"
                params={{ merchantId, invoiceId }}
                data-autofocus
                {...props}
              />
            )}
          >
            View invoice
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
