// The names of the objects in log entries: the log has only ids, because names can be changed and erased.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { AuditEvent } from "../api/operations.ts";
import { reading } from "../api/queries.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { useFormats } from "../shell/reader.tsx";
import type { Known } from "./sentence.ts";

/** The most invoices that the API finds by their ids. The entries of a page name fewer. */
const MOST_NAMED = 100;

interface Names extends Pick<Known, "nameOf" | "moneyOf" | "money" | "coins"> {}

/**
 * Names for the objects in these entries. Reads all their invoices with one request, but none if the user may not see invoices: an entry then
 * says "an invoice". While the names of a changed list are read, those of before stay. `others`: names that are already known.
 */
export function useNames(entries: readonly AuditEvent[], others: ReadonlyMap<string, string>): Names {
  const { id: merchantId } = useMerchant();
  const { money, coins } = useFormats();
  const maySee = useMay("invoice:view");
  const ids = maySee ? [...new Set(entries.flatMap(invoiceIdsOf))] : [];
  const { data: found } = useQuery({
    ...reading("listInvoices", { merchantId, query: { ids: ids.join(","), limit: MOST_NAMED } }),
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const invoices = new Map(found?.data.map((invoice) => [invoice.id, invoice] as const));
  return {
    nameOf: (id) => invoices.get(id)?.name ?? others.get(id),
    moneyOf: (amount, invoiceId) => {
      const invoice = invoices.get(invoiceId);
      return invoice === undefined ? coins(amount) : money(amount, invoice.currency);
    },
    money,
    coins,
  };
}

function invoiceIdsOf({ target, after }: AuditEvent): readonly string[] {
  return [target, after?.invoiceId].filter((id) => typeof id === "string").filter((id) => id.startsWith("inv_"));
}
