import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Invoice } from "../api/operations.ts";
import type { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";
import { InvoiceState } from "./status.tsx";

type Formats = ReturnType<typeof useFormats>;

interface Column {
  readonly name: string;
  readonly isNumeric?: true;
  /** Whether the column is shown by default. */
  readonly isFirstShown?: true;
  readonly show: (invoice: Invoice, formats: Formats) => ReactNode;
}

const ORIGINS = { API: "Server or team", PUBLIC_KEY: "Browser", PRODUCT_PAGE: "Product page" } as const;

/** The columns in addition to the name, which is always shown. Their ids are stored when a user chooses columns. */
const COLUMNS = {
  state: { name: "Status", isFirstShown: true, show: (invoice) => <InvoiceState invoice={invoice} /> },
  amount: {
    name: "Amount",
    isNumeric: true,
    isFirstShown: true,
    show: ({ rawAmount, currency }, { money }) => (isOpen(rawAmount) ? "Any amount" : money(rawAmount, currency)),
  },
  received: {
    name: "Received",
    isNumeric: true,
    show: ({ amountReceived, currency }, { money }) => money(amountReceived, currency),
  },
  customer: {
    name: "Customer",
    isFirstShown: true,
    show: ({ customer }) => short(customer?.email ?? customer?.name),
  },
  externalId: { name: "Order number", show: ({ externalId }) => short(externalId) },
  product: { name: "Product", show: ({ product }) => short(product?.name) },
  origin: { name: "Created by", show: ({ origin }) => ORIGINS[origin] },
  created: { name: "Created", isFirstShown: true, show: ({ createdAt }) => <Time value={createdAt} /> },
  expires: { name: "Expires", show: ({ expiresAt }) => <Time value={expiresAt} /> },
} as const satisfies Readonly<Record<string, Column>>;

export type ColumnId = keyof typeof COLUMNS;

export const columnsOf: Readonly<Record<ColumnId, Column>> = COLUMNS;
export const COLUMN_IDS = Object.keys(COLUMNS).filter(isColumnId);
export const FIRST_COLUMNS: readonly ColumnId[] = COLUMN_IDS.filter((id) => columnsOf[id].isFirstShown);

function isColumnId(id: string): id is ColumnId {
  return Object.hasOwn(COLUMNS, id);
}

/** A text of any length, on one line. */
function short(text: string | null | undefined): ReactNode {
  return (
    <Text inherit truncate maw="9rem" title={text ?? undefined}>
      {text}
    </Text>
  );
}

/** Whether the customer chooses the amount, because the invoice's own amount is 0. */
export function isOpen(rawAmount: string): boolean {
  return /^0(\.0+)?$/.test(rawAmount);
}
