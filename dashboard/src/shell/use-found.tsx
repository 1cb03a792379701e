// Searches the open merchant's data for the text typed into the Ctrl-K dialog.

import { useDebouncedValue } from "@mantine/hooks";
import type { SpotlightActionData, SpotlightActionGroupData } from "@mantine/spotlight";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Merchant, SearchResults } from "../api/operations.ts";
import { reading } from "../api/queries.ts";
import { FOUND_BY } from "../invoices/found-by.ts";
import { INVOICE_STATES } from "../invoices/states.ts";
import { coinName } from "./coin-name.ts";
import { Icon } from "./icons.tsx";
import { useFormats } from "./reader.tsx";

const ASK_AFTER_MS = 250;
/** The longest query that the API accepts, in characters. */
const LONGEST = 320;

interface Found {
  readonly groups: readonly SpotlightActionGroupData[];
  readonly isSearching: boolean;
}

export function useFound(merchant: Merchant | undefined, typed: string): Found {
  const text = typed.trim().slice(0, LONGEST);
  const [asked] = useDebouncedValue(text, ASK_AFTER_MS);
  const merchantId = merchant?.id ?? "";
  const isWanted = merchant !== undefined && asked !== "";
  const search = useQuery({ ...reading("search", { merchantId, query: { q: asked } }), enabled: isWanted });
  const { data } = search;
  const groupsOf = useGroups(merchantId);
  const isSearching = merchant !== undefined && text !== "" && (text !== asked || search.isFetching);
  return { groups: isWanted && data !== undefined ? groupsOf(data, asked) : [], isSearching };
}

function useGroups(merchantId: string) {
  const navigate = useNavigate();
  const { coins, money } = useFormats();
  const toInvoice = (invoiceId: string) =>
    navigate({ to: "/console/$merchantId/invoices/$invoiceId", params: { merchantId, invoiceId } });
  return ({ invoices = [], customers = [], payments = [] }: SearchResults, asked: string) => {
    // The dialog only shows entries that contain the typed text. An invoice found by its transaction hash does not contain it, so it becomes a
    // keyword.
    const group = (name: string, actions: readonly SpotlightActionData[]) =>
      actions.length === 0 ? [] : [{ group: name, actions: actions.map((each) => ({ ...each, keywords: [asked] })) }];
    return [
      ...group(
        "Invoices",
        invoices.map(({ id, name, externalId, rawAmount, currency, status, matchedBy }) => ({
          id,
          label: name,
          description: [
            externalId,
            money(rawAmount, currency),
            INVOICE_STATES[status].name,
            `found ${FOUND_BY[matchedBy]}`,
          ]
            .filter(Boolean)
            .join(", "),
          leftSection: <Icon name="invoices" />,
          onClick: () => toInvoice(id),
        })),
      ),
      ...group(
        "Customers",
        customers.map(({ id, name, email }) => ({
          id,
          label: name ?? email ?? id,
          description: name === null || email === null ? "Customer" : email,
          leftSection: <Icon name="customers" />,
          onClick: () => navigate({ to: `/console/${merchantId}/customers/${id}` }),
        })),
      ),
      ...group(
        "Payments",
        payments.map(({ id, invoiceId, amount, currency, network, txHash }) => ({
          id,
          label: `${coins(amount)} ${coinName(currency, network)}`,
          description: txHash,
          leftSection: <Icon name="next" />,
          onClick: () =>
            invoiceId === null ? navigate({ to: `/console/${merchantId}/payments/${id}` }) : toInvoice(invoiceId),
        })),
      ),
    ];
  };
}
